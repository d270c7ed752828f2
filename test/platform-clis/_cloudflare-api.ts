/**
 * Cloudflare's API as far as wrangler needs it to upload a Worker named shop or shop-staging: the paths, error codes and results that wrangler's own code
 * asks for and reads (`wrangler-dist/cli.js` of 4.155.0, compared on 2026-11-22).
 */
import type { Received, Reply } from './_double.ts'

const ACCOUNT = '/client/v4/accounts/acc/workers'

const DEPLOYMENT = {
  id: 'd',
  source: 'wrangler',
  author_email: 'a@shop.example',
  created_on: '2026-11-01T00:00:00Z',
  versions: [{ version_id: 'v', percentage: 100 }],
}

/** `others` are the Workers that the account has already. */
export function createCloudflareAnswer(others: readonly string[]): (request: Received) => Reply {
  return (request) => answer(request, others)
}

export function answerAsCloudflare(request: Received): Reply {
  return answer(request, [])
}

function answer({ method, path }: Received, others: readonly string[]): Reply {
  const result = (json: unknown): Reply => ({
    json: { success: true, errors: [], messages: [], result: json },
  })
  if (path.startsWith(`${ACCOUNT}/services/`)) {
    const errors = [{ code: 10090, message: 'This service does not exist' }]
    return { status: 404, json: { success: false, errors, messages: [], result: null } }
  }
  const [, script = ''] = /\/scripts\/([\w-]+)\/deployments/.exec(path) ?? []
  if (script !== '') {
    if (others.includes(script)) return result({ deployments: [DEPLOYMENT] })
    const errors = [{ code: 10007, message: 'This Worker does not exist on your account.' }]
    return { status: 404, json: { success: false, errors, messages: [], result: null } }
  }
  const [, name] = new RegExp(`^${ACCOUNT}/workers/(shop[\\w-]*)`).exec(path) ?? []
  if (name !== undefined) {
    return result({ id: name, name, subdomain: { enabled: true, previews_enabled: false } })
  }
  if (path.includes('/subdomain')) return result({ subdomain: 'shop', enabled: true, previews_enabled: true })
  if (method === 'PUT') return result({ id: 'shop', etag: 'e', deployment_id: 'd', startup_time_ms: 1 })
  return result({})
}
