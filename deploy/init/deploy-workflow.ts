/** The GitHub workflow that `mayfly init` writes: a tag deploys, with short-lived credentials if the platform has them. */
import type { CiLogin } from '../contract/target.ts'

export interface WorkflowTarget {
  readonly name: string
  readonly ci: CiLogin
}

/** Undefined for platforms without an upload. `secrets`: the names of the secrets that the server needs. */
export function deployWorkflow(
  targets: readonly WorkflowTarget[],
  secrets: readonly string[],
): string | undefined {
  if (targets.length === 0) return undefined
  return `# git tag v1.0.0 && git push --tags deploys.
# First, under Settings, Environments, production: allow only tags v* to deploy (Deployment branches and tags); by default any branch may.
# Set these there, too (private repositories on GitHub's Free plan have no environments: use Settings, Secrets and variables, Actions):
${secrets.map((name) => `#   secret ${name}: for the server\n`).join('')}${targets.flatMap(({ ci }) => ci.setUp.map((line) => `#   ${line}\n`)).join('')}name: deploy
on:
  push:
    tags: ['v*']
permissions:
  contents: read
# One at a time: the last tag wins.
concurrency: deploy
jobs:
${targets.map((target) => job(target, secrets)).join('')}`
}

function job({ name, ci }: WorkflowTarget, secrets: readonly string[]): string {
  const { hasIdToken = false, steps = '', toolOptions } = ci
  const handed = secrets.map((secret) => ` --secret ${secret}`).join('')
  // Otherwise the check of a server with auth would skip most of its steps.
  const bearer = secrets.includes('API_TOKEN') ? ' --check-bearer-env API_TOKEN' : ''
  const env = [
    ...[...secrets, ...(ci.secrets ?? [])].map((secret) => `${secret}: \${{ secrets.${secret} }}`),
    ...(ci.variables ?? []).map((variable) => `${variable}: \${{ vars.${variable} }}`),
  ]
  return `  ${name}:
    runs-on: ubuntu-latest
    environment: production
${hasIdToken ? '    permissions:\n      contents: read\n      id-token: write\n' : ''}    steps:
      - uses: actions/checkout@v5
        with:
          persist-credentials: false
      - uses: actions/setup-node@v5
        with:
          node-version: 24
      - run: npm ci
      - run: npm test
${indented(steps, '      ')}      - run: npx mayfly deploy --target ${name}${handed} --check${bearer}${toolOptions === undefined ? '' : ` -- ${toolOptions}`}
        env:
${env.map((line) => `          ${line}\n`).join('')}`
}

function indented(text: string, by: string): string {
  return text.replace(/^(?=.)/gm, by)
}
