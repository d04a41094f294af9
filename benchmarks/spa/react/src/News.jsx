import { useParams } from 'react-router'
import { Article } from './Article.jsx'
import { useData } from './useData.js'

export function News() {
  const stories = useData('/data/news.json')
  if (!stories) return <p>Loading</p>
  const links = stories.map(story => [`/news/${story.slug}`, story.title])
  return <Article title="News" paragraphs={['What happened lately between the quay and the wall.']} links={links} />
}

export function Story() {
  const { slug } = useParams()
  const stories = useData('/data/news.json')
  if (!stories) return <p>Loading</p>
  return <Article {...stories.find(story => story.slug === slug)} />
}
