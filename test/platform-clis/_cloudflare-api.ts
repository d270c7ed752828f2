/**
 * Cloudflare's API as far as wrangler needs it to upload a Worker named shop: the paths, error codes and results that wrangler's own code
 * asks for and reads (`wrangler-dist/cli.js` of 4.155.0, compared on 2026-11-22).
 */
import type { Received, Reply } from './_double.ts'

const ACCOUNT = '/client/v4/accounts/acc/workers'

export function answerAsCloudflare({ method, path }: Received): Reply {
  const result = (json: unknown): Reply => ({
    json: { success: true, errors: [], messages: [], result: json },
  })
  if (path.startsWith(`${ACCOUNT}/services/`)) {
    const errors = [{ code: 10090, message: 'This service does not exist' }]
    return { status: 404, json: { success: false, errors, messages: [], result: null } }
  }
  if (path.endsWith('/deployments')) return result({ deployments: [] })
  if (path.startsWith(`${ACCOUNT}/workers/shop`)) {
    return result({ id: 'shop', name: 'shop', subdomain: { enabled: true, previews_enabled: false } })
  }
  if (path.includes('/subdomain')) return result({ subdomain: 'shop', enabled: true, previews_enabled: true })
  if (method === 'PUT') return result({ id: 'shop', etag: 'e', deployment_id: 'd', startup_time_ms: 1 })
  return result({})
}
