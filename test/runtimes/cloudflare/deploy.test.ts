/** `wrangler deploy` takes the showcase as it is: an `MCPServer` is a Worker, and needs nothing of Node. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const OFFLINE = { WRANGLER_SEND_METRICS: 'false', WRANGLER_HIDE_BANNER: 'true' }

it('a dry run of the deployment passes, without an account, nodejs_compat or imports left over', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-deploy-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))

  const output = execFileSync(
    process.execPath,
    ['node_modules/wrangler/bin/wrangler.js', 'deploy', '--dry-run', '--outdir', folder],
    { cwd: ROOT, env: { ...process.env, ...OFFLINE }, encoding: 'utf8' },
  )

  expect(output).toContain('--dry-run: exiting now.')
  const bundle = readFileSync(join(folder, 'server.js'), 'utf8')
  expect(bundle).toMatch(/export\s*\{\s*\w+ as default\s*\}/)
  expect(bundle).not.toMatch(/^import /m)
  expect(readFileSync(join(ROOT, 'wrangler.toml'), 'utf8')).not.toContain('nodejs_compat')
})
