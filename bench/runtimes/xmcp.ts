/** xmcp has a folder of files and a compiler of its own instead of a function to call: writes the project, and compiles it. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { moreFields } from '../tools.ts'
import { FRAMEWORKS } from './entry.ts'
import type { Fixture } from './subject.ts'

const TSCONFIG = {
  compilerOptions: { target: 'ES2022', module: 'ESNext', moduleResolution: 'bundler', strict: true },
}

/** Returns the program that listens on `port`. */
export function buildXmcp(folder: string, { toolCount, fieldCount }: Fixture, port: number): string {
  const tools = join(folder, 'src/tools')
  mkdirSync(tools, { recursive: true })
  symlinkSync(join(FRAMEWORKS, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'bench', version: '1.0.0' }))
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG))
  writeFileSync(join(folder, 'xmcp.config.ts'), config(port))
  for (let index = 0; index < toolCount; index++) {
    writeFileSync(join(tools, `echo_${index}.ts`), tool(index, fieldCount))
  }
  const compiler = join(FRAMEWORKS, 'node_modules/xmcp/dist/cli.js')
  execFileSync(process.execPath, [compiler, 'build'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  return join(folder, 'dist/http.js')
}

function config(port: number): string {
  return `export default {
  http: { port: ${port}, host: '127.0.0.1' },
  paths: { prompts: false, resources: false },
  typescript: { skipTypeCheck: true },
}
`
}

/** The tool of `tools.ts` with this number. */
function tool(index: number, fieldCount: number): string {
  const more = moreFields(fieldCount).map((name, at) => `  ${name}: z.string().describe('Detail ${at}'),`)
  return `import * as z from 'zod'

export const schema = {
  text: z.string().describe('What to say'),
  channel: z.string().describe('Where to say it'),
  count: z.number().describe('How often to say it'),
  tone: z.enum(['friendly', 'formal']).optional().describe('How to say it'),
${more.join('\n')}
}

export const metadata = {
  name: 'echo_${index}',
  description: 'Echoes a text to a channel (number ${index})',
}

export default async function echo({ text }: { text: string }) {
  return { content: [{ type: 'text', text }] }
}
`
}
