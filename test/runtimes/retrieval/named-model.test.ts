/** Models by name, from packages of the AI SDK beside the installed one. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const project = mkdtempSync(join(tmpdir(), 'mayfly-named-'))
afterAll(() => rmSync(project, { recursive: true }))

const installed = join(project, 'node_modules/mayfly-mcp')
cpSync(join(ROOT, 'dist'), join(installed, 'dist'), { recursive: true })
cpSync(join(ROOT, 'package.json'), join(installed, 'package.json'))

/** A provider's package has a function that makes a provider, and one that it has made. */
function install(provider: string, code: string): void {
  const folder = join(project, 'node_modules/@ai-sdk', provider)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), `{"type":"module","exports":"./index.js"}`)
  writeFileSync(join(folder, 'index.js'), code)
}

const EMBEDDING = `{ maxEmbeddingsPerCall: 1, doEmbed: async ({ values }) => ({ embeddings: values.map(() => [1, id.length]) }) }`
const LANGUAGE = `{ doGenerate: async () => ({ content: [{ type: 'text', text: '[0, 1]' }] }) }`
const provider = (name: string) => `
  export const create = () => ${name}
  export const ${name} = Object.assign(() => {}, {
    languageModel: (id) => (${LANGUAGE}),
    textEmbeddingModel: (id) => (${EMBEDDING}),
  })`
install('acme', provider('acme'))
install('chat-only', 'export const chat = { languageModel: () => ({}) }')

function run(model: string, reranker = 'undefined'): string {
  const code = `
    import { createMemoryVectorStore, createVectorQueryTool } from 'mayfly-mcp/retrieval'
    const vectorStore = createMemoryVectorStore()
    await vectorStore.createIndex({ indexName: 'i', dimension: 2 })
    const metadata = [{ text: 'one' }, { text: 'two' }]
    await vectorStore.upsert({ indexName: 'i', vectors: [[1, 5], [5, 1]], ids: ['a', 'b'], metadata })
    const options = { vectorStore, indexName: 'i', model: '${model}', reranker: ${reranker} }
    try {
      const { sources, notice = '' } = await createVectorQueryTool(options).execute({ queryText: 'x' })
      console.log(sources.map(({ id }) => id).join(' '), notice)
    } catch (error) {
      console.log(error.message)
    }`
  writeFileSync(join(project, 'search.mjs'), code)
  return execFileSync(process.execPath, ['search.mjs'], { cwd: project, encoding: 'utf8' }).trim()
}

it('an embedding model of another provider is that of its package', () => {
  expect(run('acme/large')).toBe('a b')
  expect(run(' acme/large\\t')).toBe('a b')
})

it('a reranker by name is the language model of its package', () => {
  const options = `{ model: 'acme/small', options: { weights: { semantic: 1, vector: 0, position: 0 } } }`
  expect(run('acme/large', options)).toBe('b a')
})

it('a package that is not installed, or has no such models → an error that names it', () => {
  expect(run('other/large')).toBe(
    'The model "other/large" needs the package @ai-sdk/other, which cannot be loaded here: install it, or pass the model itself, which also works in a bundle.',
  )
  expect(run('chat-only/x')).toBe('The package for the model "chat-only/x" has no embedding models.')
})
