import rules from './rules.json'
import { Article } from './Article.jsx'

export default function Rules() {
  return <Article {...rules} />
}
