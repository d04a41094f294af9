import { useEffect, useState } from 'react'

// What the server keeps apart from the page; null until it has come.
export function useData(path) {
  const [data, setData] = useState(null)
  useEffect(() => {
    let wanted = true
    fetch(path)
      .then(answer => answer.json())
      .then(found => wanted && setData(found))
    return () => {
      wanted = false
    }
  }, [path])
  return data
}
