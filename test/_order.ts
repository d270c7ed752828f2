/** Files that take long begin first, so that none is left running alone at the end. */
import type { TestSpecification } from 'vitest/node'
import { BaseSequencer } from 'vitest/node'

/** Seconds on two cores, of those that take more than ten. */
const SECONDS: { readonly [file: string]: number } = {
  'runtimes/tasks/init.test.ts': 250,
  'package/init-templates.test.ts': 240,
  'runtimes/tasks/faults.test.ts': 200,
  'package/consumer.test.ts': 150,
  'runtimes/tasks/crashes.test.ts': 130,
  'runtimes/init.test.ts': 120,
  'runtimes/dev.test.ts': 110,
  'cli/dev.test.ts': 100,
  'browser/sign-in-pages.test.ts': 100,
  'cli/build.test.ts': 100,
  'cli/doctor.test.ts': 90,
  'cli/doctor-sign-in.test.ts': 90,
  'browser/playground.test.ts': 90,
  'cli/built-server.test.ts': 80,
  'cli/keys.test.ts': 80,
  'cli/deployed.test.ts': 70,
  'cli/env-owner.test.ts': 75,
  'runtimes/tasks/admin.test.ts': 75,
  'cli/reload.test.ts': 70,
  'property/task-crashes.test.ts': 65,
  'frameworks/frameworks.test.ts': 64,
  'unit/client/hostile-process.test.ts': 71,
  'unit/client/hostile-tasks.test.ts': 42,
  'unit/client/hostile-answers.test.ts': 36,
  'property/growth.test.ts': 26,
  'unit/client/hostile-floods.test.ts': 19,
  'property/zod-schemas.test.ts': 17,
  'property/out-folder.test.ts': 17,
  'property/growth-sign-in.test.ts': 15,
  'unit/asking/memory.test.ts': 17,
  'unit/bounded-waits.test.ts': 16,
  'unit/thrown-values.test.ts': 14,
  'unit/client/hostile-questions.test.ts': 12,
  'guards/guards.test.ts': 11,
  'unit/tasks/store-down.test.ts': 11,
  'unit/client/hostile-task-questions.test.ts': 11,
}

const secondsOf = ({ moduleId }: TestSpecification): number => SECONDS[moduleId.split('/test/').at(-1)!] ?? 0

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((a, b) => secondsOf(b) - secondsOf(a))
  }
}
