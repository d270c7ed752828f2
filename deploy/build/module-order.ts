/** In which order the modules of a bundle run. */
import { resolve } from 'node:path'
import type { Metafile } from 'esbuild'
import { manifestOf } from './optional-packages.ts'

interface OrderOptions {
  /** What the paths of the metafile are relative to. */
  readonly cwd: string
  /** Whether a file is part of Mayfly. */
  readonly isOwn: (file: string) => boolean
}

/** Whether it matters when a module runs. It is named as in a metafile. */
export type OrderSense = (path: string) => boolean

/** It does not for Mayfly's modules, for those of packages with `"sideEffects": false`, and for data. */
export function createOrderSense({ cwd, isOwn }: OrderOptions): OrderSense {
  const known = new Map<string, boolean>()
  return (path) => {
    const file = resolve(cwd, path)
    const matters =
      known.get(path) ?? !(isOwn(file) || file.endsWith('.json') || manifestOf(file).sideEffects === false)
    known.set(path, matters)
    return matters
  }
}

/**
 * Whether a split bundle runs its modules in the order in which they import each other. A module that two files share runs before both, and
 * so before what its importer imports first, such as a polyfill or `dotenv/config`.
 */
export function keepsOrder({ inputs, outputs }: Metafile, main: string, order: OrderSense): boolean {
  const used = new Set(
    Object.values(outputs).flatMap(({ inputs: parts }) =>
      Object.entries(parts).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
    ),
  )
  const matters = (path: string): boolean => used.has(path) && order(path)
  const importsOf = (path: string): readonly string[] => statics(inputs[path]?.imports)
  const calledOnly = modulesCalledOnly(inputs, importsOf)
  const entries = Object.entries(outputs).flatMap(([output, { entryPoint }]) =>
    entryPoint === undefined ? [] : [{ output, entryPoint }],
  )
  const intended = ({ entryPoint }: (typeof entries)[number]): string[] => ordered(entryPoint, importsOf)
  const actual = (
    { output, entryPoint }: (typeof entries)[number],
    expected: readonly string[],
  ): string[] => {
    const called = new Set<string>()
    /** Before an importer of its file: what the importer calls, unless another has called it before. */
    const call = (path: string): string[] => {
      if (!calledOnly.has(path)) return []
      if (called.has(path)) return []
      called.add(path)
      return [...importsOf(path).flatMap(call), path]
    }
    return ordered(output, (path) => statics(outputs[path]?.imports)).flatMap((path) => {
      const held = Object.keys(outputs[path]?.inputs ?? {}).flatMap((one) =>
        calledOnly.has(one) ? [] : [...importsOf(one).flatMap(call), one],
      )
      // esbuild follows the entry's imports in its own file. It lists a module where its first part is, though, before what it imports.
      return path === output
        ? [...held, ...call(entryPoint)].sort((a, b) => expected.indexOf(a) - expected.indexOf(b))
        : held
    })
  }
  const first = entries.find(({ entryPoint }) => entryPoint === main)
  const started = new Set(first === undefined ? [] : intended(first))
  return entries.every((entry) => {
    const isOfEntry = (path: string): boolean => entry === first || !started.has(path)
    const expected = intended(entry).filter((path) => isOfEntry(path) && matters(path))
    const found = actual(entry, expected).filter((path) => isOfEntry(path) && matters(path))
    return expected.join('\n') === found.join('\n')
  })
}

/**
 * The modules that do not run where their code is, but where they are first imported: those of CommonJS, and what CommonJS requires, with
 * all that this imports.
 */
function modulesCalledOnly(
  inputs: Metafile['inputs'],
  importsOf: (path: string) => readonly string[],
): ReadonlySet<string> {
  const found = new Set<string>()
  const add = (path: string): void => {
    if (found.has(path)) return
    found.add(path)
    importsOf(path).forEach(add)
  }
  for (const [path, { format, imports }] of Object.entries(inputs)) {
    if (format === 'cjs') add(path)
    for (const { path: required, kind, external } of imports)
      if (kind === 'require-call' && !external) add(required)
  }
  return found
}

/** The files of a split bundle that are opened with one of them, which was made of `entryPoint`. */
export function filesAtStart({ outputs }: Metafile, entryPoint: string): readonly string[] {
  const [main] = Object.keys(outputs).filter((path) => outputs[path]?.entryPoint === entryPoint)
  return main === undefined ? [] : ordered(main, (path) => statics(outputs[path]?.imports))
}

/** What a module or a file imports when it is loaded. */
function statics(
  imports: readonly { path: string; kind: string; external?: boolean }[] = [],
): readonly string[] {
  return imports.flatMap(({ path, kind, external }) =>
    kind === 'import-statement' && !external ? [path] : [],
  )
}

/** Depth first, each after what it imports. */
function ordered(root: string, importsOf: (path: string) => readonly string[]): string[] {
  const seen = new Set<string>()
  const order: string[] = []
  const visit = (path: string): void => {
    if (seen.has(path)) return
    seen.add(path)
    importsOf(path).forEach(visit)
    order.push(path)
  }
  visit(root)
  return order
}
