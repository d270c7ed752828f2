/** What docs/deploy/bun.md says of `bun build --bytecode`: the program that `mayfly build` writes, compiled for this version of Bun. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { ABILITIES } from '../../../deploy/contract/abilities.ts'
import { bun } from '../../../deploy/targets/bun/target.ts'
import { contract } from '../../contract/contract.ts'
import { serveArtefact } from '../_artefact.ts'

const compiled: Pick<typeof bun, 'build' | 'preview'> = {
  async build(project, outDir) {
    const built = await bun.build(project, outDir)
    const fast = join(outDir, 'fast')
    const server = join(outDir, 'server.js')
    execFileSync('bun', ['build', server, '--target=bun', '--bytecode', `--outdir=${fast}`], {
      stdio: 'pipe',
    })
    expect(existsSync(join(fast, 'server.js.jsc'))).toBe(true)
    return built
  },
  preview(outDir, options) {
    const { args = [], ...launch } = bun.preview(outDir, options)
    return { ...launch, args: args.map((one) => one.replace(/server\.js$/, join('fast', 'server.js'))) }
  },
}

contract('bun, compiled ahead', {
  abilities: ABILITIES.bun,
  userAgent: /^Bun\//,
  start: () => serveArtefact('test/contract/fixture.ts', compiled),
})
