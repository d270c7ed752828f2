/**
 * A build replaces nothing but what an earlier build has left: over folders, links and files of every arrangement, inside a folder
 * made for it. What would be removed is recorded and stays.
 */
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { MARKER, openOutFolder } from '../../deploy/build/out-folder.ts'
import { CliError } from '../../deploy/terminal/cli-error.ts'
import { check } from './_seeded.ts'

const ROOT = realpathSync(mkdtempSync(join(tmpdir(), 'mayfly-out-')))
afterAll(() => rmSync(ROOT, { recursive: true, force: true }))

/** Few names, so that paths meet. */
const name = fc.constantFrom('a', 'b', 'src', 'dist', '.git', 'node_modules', 'SRC')
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'))

const world = fc.record({
  folders: fc.array(path, { maxLength: 8 }),
  files: fc.array(path, { maxLength: 6 }),
  /** Folders that an earlier build has written. */
  built: fc.array(path, { maxLength: 3 }),
  /** Whether one of them is built again. */
  again: fc.boolean(),
  packages: fc.array(path, { maxLength: 2 }),
  links: fc.array(
    fc.record({
      at: path,
      to: fc.oneof(path, fc.constant('.'), fc.constant('nowhere')),
      isRelative: fc.boolean(),
    }),
    { maxLength: 4 },
  ),
  cwd: fc.oneof(path, fc.constant('.')),
  home: fc.oneof(path, fc.constant('.')),
  entry: path,
  out: fc
    .tuple(path, fc.constantFrom('', '/', '/.', '/..', '/../b', '/new', '/new/er'))
    .map(([start, end]) => start + end),
  end: fc.constantFrom('commit', 'discard'),
})

type World = typeof world extends fc.Arbitrary<infer Value> ? Value : never

/** Makes what can be made: a path that is taken by something else stays what it is. */
function build(root: string, { folders, files, built, packages, links, cwd, home, entry }: World): void {
  const attempt = (make: () => unknown): void => {
    try {
      make()
    } catch (error) {
      if (!['EEXIST', 'ENOTDIR', 'ENOENT', 'EISDIR', 'ELOOP'].includes((error as { code: string }).code)) {
        throw error
      }
    }
  }
  const write = (at: string, text: string): void => {
    attempt(() => mkdirSync(dirname(join(root, at)), { recursive: true }))
    attempt(() => writeFileSync(join(root, at), text, { flag: 'wx' }))
  }
  for (const folder of built) {
    const marker = join(root, folder, MARKER)
    attempt(() => mkdirSync(join(root, folder), { recursive: true }))
    attempt(() => {
      if (readdirSync(join(root, folder)).length > 0) return
      writeFileSync(join(root, folder, 'server.mjs'), 'built')
      writeFileSync(marker, MARKER_TEXT)
    })
  }
  for (const folder of [cwd, home, ...folders])
    attempt(() => mkdirSync(join(root, folder), { recursive: true }))
  write(`${entry}.ts`, 'export default {}')
  for (const file of files) write(`${file}.ts`, file)
  for (const folder of packages) write(`${folder}/package.json`, '{}')
  for (const { at, to, isRelative } of links) {
    const place = join(root, at)
    const target = join(root, to)
    attempt(() => mkdirSync(dirname(place), { recursive: true }))
    attempt(() => symlinkSync(isRelative ? relative(dirname(place), target) : target, place))
  }
}

/** As a build of ours leaves it. */
const MARKER_TEXT = ((): string => {
  const out = join(ROOT, 'first')
  const folder = openOutFolder({ out, cwd: join(ROOT, 'elsewhere'), sources: [], homes: [] })
  folder.commit()
  return readFileSync(join(out, MARKER), 'utf8')
})()

/** Everything below a folder: files with their content, links with where they lead; no link is followed. */
function snapshot(folder: string, found: Map<string, string> = new Map()): Map<string, string> {
  // Node 24 follows links where it reads folders recursively.
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const place = join(folder, entry.name)
    if (entry.isSymbolicLink()) found.set(place, `link to ${readlinkSync(place)}`)
    else if (entry.isFile()) found.set(place, readFileSync(place, 'utf8'))
    else {
      found.set(place, 'folder')
      snapshot(place, found)
    }
  }
  return found
}

const isIn = (folder: string, place: string): boolean => place === folder || place.startsWith(`${folder}/`)

/** The real path, as far as there is one. */
function real(place: string): string {
  try {
    return realpathSync(place)
  } catch {
    return join(real(dirname(place)), place.slice(dirname(place).length))
  }
}

test('what is not an earlier build stays where and as it is, and nothing of it is removed', async () => {
  let runs = 0
  let committed = 0
  let replaced = 0
  await check(
    fc.property(world, (one) => {
      const root = join(ROOT, String(++runs))
      mkdirSync(root)
      build(root, one)
      const cwd = real(join(root, one.cwd))
      const homes = [real(join(root, one.home))]
      const entry = real(join(root, `${one.entry}.ts`))
      const out = resolve(root, (one.again && one.built[0]) || one.out)
      const before = snapshot(root)
      const isBuilt = (place: string): boolean =>
        [...before].some(([at, text]) => text === MARKER_TEXT && isIn(dirname(at), place))
      const precious = [...before].filter(([place]) => !isBuilt(place))
      const removed: string[] = []

      let refused: unknown
      try {
        const folder = openOutFolder({ out, cwd, sources: [entry], homes }, (path) => void removed.push(path))
        writeFileSync(join(folder.staging, 'server.mjs'), 'new')
        folder[one.end]()
        if (one.end === 'commit') {
          committed++
          if (removed.length > 0) replaced++
          expect(readFileSync(join(out, 'server.mjs'), 'utf8')).toBe('new')
          expect(lstatSync(out).isSymbolicLink()).toBe(false)
          for (const kept of [cwd, entry, ...homes]) expect(isIn(real(out), kept)).toBe(false)
          for (const kept of ['package.json', '.git']) expect(before.has(join(real(out), kept))).toBe(false)
        }
      } catch (error) {
        if (!(error instanceof CliError)) throw error
        refused = error
      }

      const after = snapshot(root)
      for (const [place, text] of precious) expect(after.get(place), place).toBe(text)
      for (const folder of removed) {
        expect(lstatSync(folder).isDirectory()).toBe(true)
        // Beside the folder, where both the new build and the earlier one stood.
        expect(before.has(folder)).toBe(false)
        for (const place of snapshot(folder).keys()) {
          const inside = relative(folder, place)
          const isOurs = inside === 'server.mjs' || inside === MARKER || isBuilt(join(real(out), inside))
          expect(isOurs, inside).toBe(true)
        }
      }
      if (refused !== undefined) {
        expect((refused as CliError).message).toMatch(/^cannot (build into|write) [^\n]+$/)
        expect((refused as CliError).exitCode).toBe(1)
        expect(removed).toEqual([])
        expect(after).toEqual(before)
      }
    }),
    1000,
  )
  // The arrangements reach what is allowed, too.
  expect(committed).toBeGreaterThan(100)
  expect(replaced).toBeGreaterThan(10)
})
