/** Whether a process outlives its requests and serves all clients of a server, so that changes reach them without a bus. */

/** Variables by which platforms that start several processes and end any of them can be recognized. */
const MARKS = [
  'VERCEL',
  'NETLIFY',
  'AWS_LAMBDA_FUNCTION_NAME',
  'FUNCTIONS_WORKER_RUNTIME',
  'FUNCTION_TARGET',
  'K_SERVICE',
  'DENO_DEPLOYMENT_ID',
  'SB_EXECUTION_ID',
]

/** @param variables The environment variables of the process. */
export function isLongLived(variables: unknown): boolean {
  const given = (variables ?? {}) as { readonly [name: string]: unknown }
  return !MARKS.some((name) => given[name] !== undefined)
}
