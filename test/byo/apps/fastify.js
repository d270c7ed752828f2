// Loaded at the first request: on Cloudflare, its packages may not make random values before.
const starting = () => import('./fastify-app.js')

export default async (req, res) => {
  const { app } = await starting()
  await app.ready()
  app.routing(req, res)
}
