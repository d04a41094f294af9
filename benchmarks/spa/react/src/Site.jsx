import { lazy, Suspense } from 'react'
import { Link, Route, Routes } from 'react-router'
import { Article } from './Article.jsx'
import { News, Story } from './News.jsx'
import { Plant, Plants } from './Plants.jsx'
import pages from './pages.json'

// A chunk of its own, loaded when somebody goes there.
const Rules = lazy(() => import('./Rules.jsx'))

export function Site() {
  return (
    <>
      <nav>
        <Link to="/">Home</Link> <Link to="/plants">Plants</Link> <Link to="/news">News</Link>
      </nav>
      <main>
        <Suspense fallback={<p>Loading</p>}>
          <Routes>
            {pages.map(page => (
              <Route key={page.path} path={page.path} element={<Article {...page} />} />
            ))}
            <Route path="/rules" element={<Rules />} />
            <Route path="/news" element={<News />} />
            <Route path="/news/:slug" element={<Story />} />
            <Route path="/plants" element={<Plants />} />
            <Route path="/plants/:id" element={<Plant />} />
            <Route path="*" element={<p>There is no such page in the garden.</p>} />
          </Routes>
        </Suspense>
      </main>
    </>
  )
}
