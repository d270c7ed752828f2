/** Everything that is fuzzed. */
import type { Target } from './target.ts'
import { bearer } from './targets/bearer.ts'
import { client } from './targets/client.ts'
import { crowd } from './targets/crowd.ts'
import { header } from './targets/header.ts'
import { json } from './targets/json.ts'
import { publicUrl } from './targets/public-url.ts'
import { request } from './targets/request.ts'
import { sealed } from './targets/seal.ts'
import { uriTemplate } from './targets/uri-template.ts'

export const TARGETS: readonly Target[] = [
  request,
  crowd,
  client,
  json,
  header,
  sealed,
  uriTemplate,
  bearer,
  publicUrl,
]
