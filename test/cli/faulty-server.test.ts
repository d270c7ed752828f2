/** A server that could answer no request: what the commands say of it, before anything is built or started. */
import { existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { testPort } from '../_port.ts'
import { MayflyProcess, Project, stopAll } from './_dev-process.ts'

afterAll(stopAll)

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

function serverWith(schema: string): string {
  return `import { createTool, MCPServer } from 'mayfly-mcp'
import * as z from 'zod'
const bad = createTool({ id: 'bad', inputSchema: ${schema}, execute: () => 'x' })
export default new MCPServer({ id: 'a', name: 'a', version: '1', tools: { bad } })
void z`
}

function arrange(schema: string): Project {
  const project = new Project()
  project.linkPackage()
  symlinkSync(join(ROOT, 'node_modules/zod'), join(project.folder, 'node_modules/zod'))
  project.write('server.ts', serverWith(schema))
  return project
}

const LINE = 'mayfly: server.ts: inputSchema of tool "bad"'

describe.each([
  ['z.string()', 'must describe an object, not "string"'],
  ['z.object({ since: z.date() })', 'cannot be converted to JSON Schema: Date cannot be represented'],
  ["{ type: 'object' }", "is plain JSON Schema: write jsonSchema({ … }), imported from 'mayfly-mcp'"],
])('inputSchema: %s', (schema, reason) => {
  test.for([
    'build --target deno',
    'dev --target node --port 0',
    'dev --target cloudflare --port 0',
    'deploy --target cloudflare --dry-run',
  ])('mayfly %s → one line that names the tool, and nothing is left', async (args) => {
    await using project = arrange(schema)
    const { code, stdout, stderr } = await new MayflyProcess(args.split(' '), project.folder).exited
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^[^\n]+\n$/)
    expect(stderr).toContain(LINE)
    expect(stderr).toContain(reason)
    expect(existsSync(join(project.folder, 'dist'))).toBe(false)
  })
})

test.for(['node', 'bun'])(
  'a change makes it so, on %s → one line, and the last server goes on',
  async (target) => {
    await using project = arrange('z.object({})')
    const port = await testPort()
    await using mayfly = new MayflyProcess(
      ['dev', '--target', target, '--port', String(port)],
      project.folder,
    )
    await mayfly.ready()
    project.write('server.ts', serverWith('z.string()'))
    await mayfly.says(`${LINE} must describe an object, not "string"`)
    const health = await fetch(`http://127.0.0.1:${port}/healthz`)
    expect(health.status).toBe(200)
    expect((await mayfly.signal('SIGINT')).stderr).not.toContain('reloaded')
  },
)
