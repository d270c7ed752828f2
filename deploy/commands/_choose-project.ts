/** Chooses what a command works on: the project, and one of its platforms. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Project, Target } from '../contract/target.ts'
import { isPlanted } from '../project/owner.ts'
import { manifestIn, projectFolders, readProject } from '../project/project.ts'
import { findTarget, targetNames, targets } from '../targets/all.ts'
import { CliError, printable, UsageError } from '../terminal/cli-error.ts'
import { oneEntry } from '../terminal/command-line.ts'

/** A project, and the platform that a command works for. */
export interface ProjectTarget {
  readonly project: Project
  readonly targetName: string
  readonly target: Target
}

/** Throws `UsageError` for an unknown target, or if the project has several and none is given; `CliError` without an entry. */
export function chooseProject(
  positionals: readonly string[],
  given: string | undefined,
  stage?: string | undefined,
): ProjectTarget {
  if (given !== undefined) findTarget(given)
  const project = { ...readProject(process.cwd(), oneEntry(positionals)), stage }
  const targetName = given ?? onlyTarget(project)
  return { project, targetName, target: findTarget(targetName) }
}

/**
 * The project for each of its platforms, or for those that are given: each once. `node` for a project that names none. Throws as
 * `chooseProject`.
 */
export function chooseEach(
  positionals: readonly string[],
  given: readonly string[] = [],
  stage?: string | undefined,
): readonly [ProjectTarget, ...ProjectTarget[]] {
  for (const name of given) findTarget(name)
  const project = { ...readProject(process.cwd(), oneEntry(positionals)), stage }
  const [first = 'node', ...others] = new Set(given.length > 0 ? given : projectTargets(project))
  const chosen = (targetName: string): ProjectTarget => ({
    project,
    targetName,
    target: findTarget(targetName),
  })
  return [chosen(first), ...others.map(chosen)]
}

function onlyTarget(project: Pick<Project, 'cwd' | 'entry'>): string {
  const names = projectTargets(project)
  const [first = 'node', ...others] = names
  if (others.length === 0) return first
  throw new UsageError(`this project is for ${names.join(', ')}: pass one of them, as in --target ${first}`)
}

/**
 * The platforms of a project: those in `"mayfly": { "targets": […] }` in package.json, otherwise those whose configuration files exist in
 * the nearest folder. Empty if there are none.
 */
export function projectTargets(project: Pick<Project, 'cwd' | 'entry'>): readonly string[] {
  const folders = projectFolders(project)
  // Projects for other platforms may also have a package manager's lockfile.
  for (const told of [declaredTargets, targetsBy('files'), targetsBy('lockfiles')]) {
    const names = folders.map(told).find((found) => found !== undefined && found.length > 0)
    if (names !== undefined) return names
  }
  return []
}

function targetsBy(kind: 'files' | 'lockfiles'): (folder: string) => readonly string[] {
  return (folder) =>
    [...targets]
      .filter(([, { marks }]) => marks?.[kind]?.some((file) => isMark(join(folder, file))))
      .map(([name]) => name)
}

function isMark(path: string): boolean {
  return existsSync(path) && !isPlanted(path)
}

function declaredTargets(folder: string): readonly string[] | undefined {
  const { mayfly } = (manifestIn(folder) ?? {}) as { mayfly?: { targets?: unknown } }
  if (mayfly === undefined) return undefined
  const declared = mayfly?.targets
  const isList = Array.isArray(declared) && declared.length > 0
  const wrong = isList ? declared.find((name) => !targets.has(name as string)) : declared
  if (isList && wrong === undefined) return [...new Set(declared as string[])]
  const shown = printable(JSON.stringify(wrong) ?? 'nothing').slice(0, 60)
  throw new CliError(
    `"mayfly": { "targets": … } in package.json holds ${shown}: make it a list of ${targetNames}`,
  )
}
