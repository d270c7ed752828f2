/** `mayfly deploy --target cloudflare`: the real wrangler, against Cloudflare's API as far as it needs it. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { cloudflare } from '../../deploy/cloudflare/target.ts'
import { formOf, type Received, type Reply, startDouble } from './_double.ts'
import { createProject, expectToServe, installed, SECRET } from './_project.ts'

const ACCOUNT = '/client/v4/accounts/acc/workers'

function answer({ method, path }: Received): Reply {
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

it('wrangler uploads what was built, with the secret as a secret; the upload serves official clients', async () => {
  using project = createProject({ wrangler: installed('wrangler', 'repository') })
  await using api = await startDouble(answer)

  const { code, output } = await project.deploy('cloudflare', ['--secret', 'MAYFLY_SECRET'], {
    CLOUDFLARE_API_BASE_URL: `${api.url}/client/v4`,
    CLOUDFLARE_API_TOKEN: 'token',
    CLOUDFLARE_ACCOUNT_ID: 'acc',
    WRANGLER_SEND_METRICS: 'false',
    WRANGLER_HIDE_BANNER: 'true',
  })

  expect(output).not.toContain(SECRET)
  expect(code, output).toBe(0)
  const upload = api.received.find(
    ({ method, path }) => method !== 'GET' && /\/scripts\/shop(?:\/versions)?(?:\?|$)/.test(path),
  )
  const form = await formOf(upload!)
  const metadata = JSON.parse(await text(form.get('metadata'))) as { bindings: object[]; main_module: string }
  expect(metadata.bindings).toContainEqual({ name: 'MAYFLY_SECRET', type: 'secret_text', text: SECRET })
  const files = project.artefact('cloudflare')
  for (const [name, content] of files) expect(content, name).not.toContain(SECRET)
  const script = await text(form.get(metadata.main_module))
  expect(script).toBe(files.get('server.js'))

  const uploaded = join(project.folder, 'uploaded')
  mkdirSync(uploaded)
  writeFileSync(join(uploaded, 'server.js'), script)
  writeFileSync(join(uploaded, 'wrangler.json'), files.get('wrangler.json')!)
  await expectToServe(cloudflare, uploaded, project.folder)
}, 90_000)

function text(part: FormDataEntryValue | null): Promise<string> {
  return new Response(part).text()
}
