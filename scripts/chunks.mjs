/**
 * Which modules share a file in dist/chunks. A bundler alone makes one for each set of entry points that need a module: two hundred. Opening
 * files is what an import costs, so there are few here:
 *
 * - one with what `mayfly-mcp` imports, which nearly every other entry point needs as well;
 * - one for each other set of entry points, the small ones together;
 * - of what only the command line needs: one for its start, one for what it starts, one for its commands.
 *
 * What `import()` loads stays apart, and what only one entry point needs is in its own file. A module shares a
 * chunk with one that needs an optional package only if nobody needs it without that package: who has not installed it can load all the rest.
 * So it is with modules of Node, which some platforms do not have.
 */
import { basename, dirname } from 'node:path'
import { ALONE } from './entries.mjs'

const CORE = 'src/index'

/** Stands for the modules of Node, as if they were an optional package. */
const NODE = 'node:'

/** Characters of source, with comments. */
const SMALL = 20_000

/**
 * @param found modules by name, which is the path of the source without extension: `{ size, imports, later }`
 * @param entries names of the modules that have a file of their own
 * @param optional names of packages that not every user has
 * @returns the name of a module's chunk; a module that has none goes where the bundler puts it
 */
export function planChunks(found, entries, optional) {
  // The bundler finds them in another order each time; the same sources are to make the same files.
  const modules = new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)))
  const core = new Set([...closureOf(modules, CORE)].filter((name) => isAlone(modules, name)))
  const later = new Set([...modules.values()].flatMap((module) => module.later))
  const neededBy = new Map([...modules.keys()].map((name) => [name, []]))
  for (const root of new Set([...entries, ...later]))
    for (const name of closureOf(modules, root)) neededBy.get(name).push(root)

  const missable = [...optional, NODE]
  const packages = new Map([...entries, ...later].map((root) => [root, packagesOf(modules, root, missable)]))
  const plan = new Map()
  const sets = new Map()
  for (const [name, roots] of neededBy) {
    if (ALONE.includes(name)) plan.set(name, name)
    else if (core.has(name)) plan.set(name, 'core')
    else if (roots.length > 1) {
      const needed = missable.filter((one) => roots.every((root) => packages.get(root).includes(one)))
      const set = [setOf(roots, later), ...needed].join(' +')
      sets.set(set, [...(sets.get(set) ?? []), name])
    }
  }
  const together = mergeSmall(modules, sets, later)
  const taken = new Set(['core', 'shared'])
  for (const [set, names] of sets) {
    const chunk = together.has(set) ? 'shared' : nameFor(set, names, modules, taken)
    for (const name of names) plan.set(name, chunk)
  }
  return plan
}

/** Whether it needs no package of others: not every entry point that needs the rest of the core needs that one. */
function isAlone(modules, name) {
  return [...closureOf(modules, name)].every((one) =>
    modules.get(one).imports.every((imported) => modules.has(imported)),
  )
}

/** The optional packages without which it cannot be loaded. */
function packagesOf(modules, name, optional) {
  const imported = [...closureOf(modules, name)].flatMap((one) => modules.get(one).imports)
  return optional.filter((one) => imported.some((path) => isOf(path, one))).sort()
}

function isOf(path, name) {
  return path === name || path.startsWith(name === NODE ? NODE : `${name}/`)
}

/** All that a module imports before it runs, and itself. */
function closureOf(modules, name, found = new Set()) {
  const module = modules.get(name)
  if (module === undefined || found.has(name)) return found
  found.add(name)
  for (const one of module.imports) closureOf(modules, one, found)
  return found
}

/** The entry points of the library that need a module; if none does, what is loaded later, or which part of the command line. */
function setOf(roots, later) {
  const library = roots.filter((root) => !root.startsWith('deploy/'))
  const now = library.filter((root) => !later.has(root))
  if (library.length > 0) return (now.length > 0 ? now : library).sort().join(' ')
  if (roots.includes('deploy/cli')) return 'cli'
  return roots.every((root) => later.has(root)) ? 'cli-commands' : 'cli-started'
}

/** Which sets share one chunk: without packages of others, which not all of them need, and so that chunks do not import in a circle. */
function mergeSmall(modules, sets, later) {
  const setBy = new Map([...sets].flatMap(([set, names]) => names.map((name) => [name, set])))
  const reached = new Map()
  const reach = (set) => {
    if (reached.has(set)) return reached.get(set)
    const found = new Set()
    reached.set(set, found)
    for (const name of sets.get(set))
      for (const one of modules.get(name).imports) {
        const next = setBy.get(one)
        if (next === undefined || next === set) continue
        for (const further of [next, ...reach(next)]) found.add(further)
      }
    return found
  }
  const together = new Set()
  // What most entry points need comes first: it saves each of them a file.
  const byNeed = [...sets].sort(([a], [b]) => b.split(' ').length - a.split(' ').length)
  for (const [set, names] of byNeed) {
    const parts = names.map((name) => modules.get(name))
    if (set.startsWith('cli') || set.split(' ').some((root) => later.has(root))) continue
    if (parts.reduce((sum, { size }) => sum + size, 0) > SMALL) continue
    if (parts.some(({ imports }) => imports.some((one) => !modules.has(one)))) continue
    const all = [...together, set]
    const between = all.flatMap((one) => [...reach(one)]).filter((one) => !all.includes(one))
    if (between.every((one) => all.every((member) => !reach(one).has(member)))) together.add(set)
  }
  return together
}

/** After the folder of its largest module: `src/tasks/engine` → `tasks`. */
function nameFor(set, names, modules, taken) {
  const [largest] = [...names].sort((a, b) => modules.get(b).size - modules.get(a).size)
  const folder = basename(dirname(largest)).replace(/^_/, '')
  const wanted = set.startsWith('cli') ? set.split(' ')[0] : folder === 'src' ? basename(largest) : folder
  let name = wanted
  for (let count = 2; taken.has(name); count += 1) name = `${wanted}-${count}`
  taken.add(name)
  return name
}
