import { createRoot } from 'react-dom/client'
import { BrowserRouter } from 'react-router'
import { Site } from './Site.jsx'

createRoot(document.getElementById('root')).render(
  <BrowserRouter>
    <Site />
  </BrowserRouter>,
)
