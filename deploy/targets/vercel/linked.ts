/** A folder in which Vercel's CLI works on the right project. */
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Place } from '../../contract/place.ts'
import type { DeployStep, Project } from '../../contract/target.ts'
import { LINK_FILE } from './place.ts'

export interface Linked {
  /** For each step. */
  readonly step: Pick<DeployStep, 'cwd' | 'env'>
  /** Runs first. Undefined if the folder is linked: production's own link is copied. */
  readonly link: DeployStep | undefined
}

export function linkFolder({ cwd }: Project, place: Place, folder: string): Linked {
  const own = join(cwd, LINK_FILE)
  const isLinked = place.stage === undefined && place.namedBy === LINK_FILE && existsSync(own)
  if (isLinked) {
    mkdirSync(dirname(join(folder, LINK_FILE)), { recursive: true })
    copyFileSync(own, join(folder, LINK_FILE))
  }
  return { step: { cwd: folder, env: place.env ?? {} }, link: isLinked ? undefined : place.link?.(folder) }
}
