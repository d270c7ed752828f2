import { existsSync, globSync, readFileSync } from 'node:fs'
import { sep } from 'node:path'
import { describe, expect, it } from 'vitest'
import { REQUIREMENTS, type Requirement } from './requirements.ts'

const ROOT = new URL('../../', import.meta.url)
const SOURCE =
  /^https:\/\/(modelcontextprotocol\.io\/(?:specification\/20\d\d-\d\d-\d\d|seps)\/|www\.rfc-editor\.org\/rfc\/rfc\d+|fetch\.spec\.whatwg\.org\/)/

/** Ids in brackets at the end of a test's name, one after another where it proves several. */
const CITATION = /\[([a-z]+\.[a-z0-9-]+)\](?=['"`]| \[)/g

const testFiles = globSync('test/**/*.ts', { cwd: ROOT, exclude: ['**/node_modules/**'] })
  .map((file) => file.replaceAll(sep, '/'))
  .filter((file) => !file.startsWith('test/contract/requirements'))

const citations = testFiles.flatMap((file) =>
  [...readFileSync(new URL(file, ROOT), 'utf8').matchAll(CITATION)].map(([, id]) => ({ file, id: id! })),
)

describe('requirements', () => {
  it('each is cited by a test', () => {
    const cited = new Set(citations.map(({ id }) => id))
    expect(Object.keys(REQUIREMENTS).filter((id) => !cited.has(id))).toEqual([])
  })

  it('no test cites one that does not exist', () => {
    expect(citations.filter(({ id }) => !Object.hasOwn(REQUIREMENTS, id))).toEqual([])
  })

  it('each says in one sentence what is promised, and who asks for it', () => {
    for (const [id, { statement, source }] of Object.entries<Requirement>(REQUIREMENTS)) {
      expect(statement, id).toMatch(/^[^\n]{10,140}\.$/)
      expect(source, id).not.toHaveLength(0)
      for (const one of source) {
        const isOurs = one.startsWith('docs/')
        expect(isOurs ? existsSync(new URL(one, ROOT)) : SOURCE.test(one), `${id}: ${one}`).toBe(true)
      }
    }
  })
})
