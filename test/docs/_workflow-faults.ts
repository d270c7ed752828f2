/** What GitHub's own parser finds wrong in a workflow. It imports JSON in a way that Node refuses, so it is bundled first. */
import { build } from 'esbuild'

const PROGRAM = `
import { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } from '@actions/workflow-parser'

export async function workflowFaults(content) {
  const { context, value } = parseWorkflow({ name: 'workflow', content }, new NoOperationTraceWriter())
  if (value !== undefined) await convertWorkflowTemplate(context, value)
  return context.errors.getErrors().map(({ message }) => message)
}
`

const { outputFiles } = await build({
  stdin: { contents: PROGRAM, resolveDir: import.meta.dirname },
  bundle: true,
  write: false,
  format: 'esm',
  platform: 'neutral',
  mainFields: ['module', 'main'],
})
const parser: { workflowFaults(content: string): Promise<string[]> } = await import(
  `data:text/javascript;base64,${Buffer.from(outputFiles[0]!.contents).toString('base64')}`
)

/** Unknown keys, expressions that do not parse, jobs that do not exist: a message for each. */
export const workflowFaults = parser.workflowFaults
