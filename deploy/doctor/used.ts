/** Which features of the degradation matrix a server uses, as far as its code and its configuration show. */
import type { Feature } from '../../src/definition/context.ts'
import type { DeploymentInfo } from '../../src/index.ts'
import { MATRIX } from '../../src/interaction/matrix.ts'

/** Those of MCP, and of the extensions that come with Mayfly. */
export const FEATURES: readonly Feature[] = [...(Object.keys(MATRIX) as Feature[]), 'tasks']

const ELICIT = /\belicit(?:Input)?\b/

/** What the code of a server that uses a feature contains, with the names of Mayfly and of the official SDKs: all of a list. */
const WORDS: { readonly [F in Feature]?: readonly RegExp[] } = {
  'elicitation.form': [ELICIT],
  'elicitation.url': [ELICIT, /\bnew URL\(/],
  sampling: [/\bcreateMessage\b/],
  roots: [/\blistRoots\b/],
  progress: [/\breportProgress\b|notifications\/progress/],
  logging: [
    /\.log\(["'`](?:debug|info|notice|warning|error|critical|alert|emergency)["'`]|\bsendLoggingMessage\b/,
  ],
  'tools.listChanged': [/\btools\.notifyListChanged\b|\bsendToolListChanged\b/],
  'prompts.listChanged': [/\bprompts\.notifyListChanged\b|\bsendPromptListChanged\b/],
  'resources.listChanged': [/\bresources\.notifyListChanged\b|\bsendResourceListChanged\b/],
  'resources.subscribe': [/\bnotifyUpdated\b|\bsendResourceUpdated\b/],
  cancellation: [/\bsignal\b/],
  resumability: [/\beventStore\b/],
  sessions: [/\bsessionId\b/],
}

/**
 * `code`: the project's own, without installed packages. A feature that only a package uses is not found, and a word in a text is: this
 * decides how much is told, not whether something is wrong.
 */
export function usedFeatures(
  code: string,
  { hasTasks = false }: Pick<DeploymentInfo, 'hasTasks'>,
): ReadonlySet<Feature> {
  const isUsed = (feature: Feature): boolean =>
    WORDS[feature]?.every((words) => words.test(code)) === true ||
    (feature === 'tasks' && hasTasks) ||
    // As in `ctx.can('tasks')`.
    ['"', "'", '`'].some((quote) => code.includes(`.can(${quote}${feature}${quote})`))
  return new Set(FEATURES.filter(isUsed))
}
