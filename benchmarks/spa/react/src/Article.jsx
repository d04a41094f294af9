import { useEffect } from 'react'
import { Link } from 'react-router'

export function Article({ title, paragraphs, links = [] }) {
  useEffect(() => {
    document.title = title
  }, [title])
  return (
    <article>
      <h1>{title}</h1>
      {paragraphs.map(text => (
        <p key={text}>{text}</p>
      ))}
      <ul>
        {links.map(([to, label]) => (
          <li key={to}>
            <Link to={to}>{label}</Link>
          </li>
        ))}
      </ul>
    </article>
  )
}
