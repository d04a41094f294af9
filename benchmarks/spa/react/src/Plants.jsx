import { useParams } from 'react-router'
import { Article } from './Article.jsx'
import { useData } from './useData.js'

export function Plants() {
  const plants = useData('/data/plants.json')
  if (!plants) return <p>Loading</p>
  const links = plants.map(plant => [`/plants/${plant.id}`, plant.title])
  return <Article title="Plants" paragraphs={['Everything that has a label, in the order it was planted.']} links={links} />
}

export function Plant() {
  const { id } = useParams()
  const plants = useData('/data/plants.json')
  if (!plants) return <p>Loading</p>
  return <Article {...plants.find(plant => plant.id === Number(id))} />
}
