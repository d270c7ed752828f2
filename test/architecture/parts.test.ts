/** What is loaded at its first use: each part is in one list, and nothing that is loaded from the start imports one. */
import { expect, it } from 'vitest'
import { loadedChunks } from '../../scripts/sizes.ts'
import { PARTS } from '../_parts.ts'
import { parseModule, readModules } from './_modules.ts'

/** A Worker of one tool that is called once. */
const PLAIN = `import { createTool, MCPServer } from 'mayfly-mcp'
  export default new MCPServer({ name: 'x', version: '1', tools: { t: createTool({ id: 't', execute: () => '' }) } })`

const LOADER = /=> (import\('[^']+'\))/g

it('every import() of the server is a part of test/_parts.ts', () => {
  const server = readModules('src').filter(({ file }) =>
    /^src\/(definition|events|http|interaction|protocol|request)\//.test(file),
  )
  const imported = server.flatMap(({ file, text }) =>
    [...text.matchAll(LOADER)].map(([, code]) => parseModule(file, code!).imports[0]!.file),
  )

  expect(imported.toSorted()).toEqual(Object.keys(PARTS).toSorted())
})

it('a server with one tool loads no part before it has answered a call', async () => {
  const { modules } = await loadedChunks(PLAIN)

  expect(modules.filter((file) => Object.hasOwn(PARTS, file))).toEqual([])
  // The largest modules of the parts, which something else could import.
  const LATE = [
    'http/page',
    'interaction/replay',
    'interaction/question',
    'protocol/listen',
    'request/prompts',
  ]
  expect(modules.filter((file) => LATE.some((late) => file === `src/${late}.ts`))).toEqual([])
  expect(modules).toContain('src/request/tools.ts')
})
