/**
 * The core knows no extension by name: what a server serves beyond MCP comes through one door. What it still has are the option `task` of
 * tools, the types of telemetry, and the feature `tasks` of `ctx.can`.
 */
import { expect, it } from 'vitest'
import { type Module, parseModule, readModules } from './_modules.ts'

/** What every server loads or may load. */
const CORE =
  /^src\/(?:(?:definition|events|http|interaction|protocol|request)\/|(?:server|server-app|server-info|config)\.ts$)/

/** Methods, notifications, identifiers and options of the extensions that come with Mayfly. */
const NAMES =
  /['"`](?:notifications\/)?(?:tasks|events)\/\w|['"`]io\.modelcontextprotocol\/(?:tasks|events|ui|skills)['"`]|\boptions\??\.(?:tasks|events)\b|\bconfig\??\.(?:tasks|events)\b/

function namesIn({ file, text }: Module): string[] {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
  return code.split('\n').flatMap((line) => (NAMES.test(line) ? `${file}: ${line.trim()}` : []))
}

const core = readModules('src').filter(({ file }) => CORE.test(file))

it('the core names no method, notification, identifier or option of an extension', () => {
  expect(core.length).toBeGreaterThan(150)
  expect(core.flatMap(namesIn)).toEqual([])
})

it('the core imports none', () => {
  const found = core.flatMap(({ file, imports }) =>
    imports.flatMap((one) =>
      /^src\/(?:extension|tasks)\//.test(one.file ?? '') ? `${file} → ${one.file}` : [],
    ),
  )
  expect(found).toEqual([])
})

it.each([
  `const method = 'tasks/get'`,
  `const id = "io.modelcontextprotocol/tasks"`,
  `send('notifications/events/event')`,
  `options.tasks?.close()`,
])('%s is seen', (code) => {
  expect(namesIn(parseModule('src/request/bad.ts', code))).toHaveLength(1)
})
