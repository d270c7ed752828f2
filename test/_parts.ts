/**
 * The parts of the server that are loaded at their first use, by the file that one `import()` names. This is the one list of them:
 * test/architecture/parts.test.ts compares it with the sources. As a setup file it loads them all, so that no test in memory depends on
 * which test of its process was the first to use one.
 */
import { type LoadPart, part } from '../src/definition/part.ts'
import { loadAudit } from '../src/http/load-audit.ts'
import { loadCallers } from '../src/http/load-callers.ts'
import { loadOther } from '../src/http/load-other.ts'
import { loadPage } from '../src/http/load-page.ts'
import { loadAsking } from '../src/interaction/load-asking.ts'
import { loadSealing } from '../src/interaction/load-sealing.ts'
import { loadOtherMessages, loadTraced } from '../src/protocol/load-engine.ts'
import { loadLegacy } from '../src/protocol/load-legacy.ts'
import { loadListen } from '../src/protocol/load-listen.ts'
import { loadShared } from '../src/protocol/load-modern.ts'
import { loadAroundTool } from '../src/request/load-around-tool.ts'
import { loadDirectCall } from '../src/request/load-direct-call.ts'
import { loadPrompts, loadResources, loadToolList } from '../src/request/load-methods.ts'
import { loadSetupServer } from '../src/request/load-setup-server.ts'

export const PARTS: { readonly [file: string]: LoadPart<object> } = {
  'src/http/audit.ts': loadAudit,
  'src/http/callers-part.ts': loadCallers,
  'src/http/other-part.ts': loadOther,
  'src/http/page-part.ts': loadPage,
  'src/interaction/asking-part.ts': loadAsking,
  'src/interaction/sealing.ts': loadSealing,
  'src/protocol/legacy.ts': loadLegacy,
  'src/protocol/listen.ts': loadListen,
  'src/protocol/modern-shared.ts': loadShared,
  'src/protocol/other-messages.ts': loadOtherMessages,
  'src/protocol/traced.ts': loadTraced,
  'src/request/around-tool.ts': loadAroundTool,
  'src/request/direct-call.ts': loadDirectCall,
  'src/request/prompts-part.ts': loadPrompts,
  'src/request/resources.ts': loadResources,
  'src/request/setup-server.ts': loadSetupServer,
  'src/request/tool-list.ts': loadToolList,
}

await Promise.all(Object.values(PARTS).map((load) => part(load)))
