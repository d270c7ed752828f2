/** The whole corpus. */
import type { CorpusEntry } from './_entry.ts'
import { batchCorpus } from './batch.ts'
import { completionCorpus } from './completion.ts'
import { headersCorpus } from './headers.ts'
import { legacyCorpus } from './legacy.ts'
import { listenCorpus } from './listen.ts'
import { malformedCorpus } from './malformed.ts'
import { modernCorpus } from './modern.ts'
import { promptsCorpus } from './prompts.ts'
import { resourcesCorpus } from './resources.ts'
import { toolsCorpus } from './tools.ts'

export const corpus: readonly CorpusEntry[] = [
  ...modernCorpus,
  ...legacyCorpus,
  ...malformedCorpus,
  ...headersCorpus,
  ...toolsCorpus,
  ...resourcesCorpus,
  ...promptsCorpus,
  ...completionCorpus,
  ...listenCorpus,
  ...batchCorpus,
]
