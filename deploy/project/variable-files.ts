/** Which files have the variables of a server: on this machine, in production and at a stage. The first one with a variable wins. */

/** What only this stage has, or production under its name. */
export function stageFiles(stage: string): readonly string[] {
  return [`.env.${stage}`, `.env.${stage}.local`]
}

/**
 * Of a server on this machine, as with wrangler and dotenv, where a `.local` file comes before the one that all share. A stage's own files
 * are before the others; production's are never read for it.
 */
export function localFiles(stage: string | undefined): readonly string[] {
  const ofStage = stage === undefined ? [] : stageFiles(stage).toReversed()
  return [...ofStage, '.dev.vars', '.env.local', '.env']
}

/** Of a deployed server. Those of this machine come last. */
export function deploymentFiles(stage: string | undefined): readonly string[] {
  return [...stageFiles(stage ?? 'production'), '.env', '.env.local', '.dev.vars']
}
