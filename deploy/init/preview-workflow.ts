/** The GitHub workflow that `mayfly init` writes for pull requests: a preview of each, and a comment with its URL and the result of the check. */
import type { WorkflowTarget } from './deploy-workflow.ts'

interface PreviewOptions {
  /** Whether the server asks for an `API_TOKEN`. */
  readonly hasToken: boolean
}

/**
 * Undefined without a platform whose previews can have other secrets than production: a version of a Worker has those of the Worker. The code of a pull request runs in the first jobs, which may only read; the comment is written
 * by a job that runs none of it. Nothing is made that must be removed later: a preview is a version, a draft or a deployment of the platform.
 */
export function previewWorkflow(
  all: readonly WorkflowTarget[],
  { hasToken }: PreviewOptions,
): string | undefined {
  const targets = all.filter(({ ci }) => ci.previewReads !== undefined)
  if (targets.length === 0) return undefined
  const names = targets.map(({ name }) => name)
  return `# A preview of each pull request from a branch of this repository, next to production, with a comment that holds its URL. Forks get none: their code
# must not see the token. Under Settings, Environments, create preview, and set there:
${[...targets.flatMap(({ ci }) => ci.setUp), ...(hasToken ? [TOKEN] : [])].map((line) => `#   ${line}\n`).join('')}# Those who may push a branch run code with this token, which can usually deploy to production, too, and code in the preview. If that is more than they
# may, set required reviewers for the environment. No secret of the server is sent, and a preview is told MAYFLY_STAGE=preview on Vercel alone. It can read:
${targets.map(({ name, ci }) => `#   ${name}: ${ci.previewReads}\n`).join('')}name: preview
on:
  pull_request:
permissions: {}
# One at a time for each pull request: the last commit wins.
concurrency:
  group: preview-\${{ github.event.number }}
  cancel-in-progress: true
jobs:
${targets.map((target) => job(target, hasToken)).join('')}  comment:
    needs: [${names.join(', ')}]
    if: \${{ !cancelled() && github.event.pull_request.head.repo.full_name == github.repository && github.actor != 'dependabot[bot]' }}
    runs-on: ubuntu-latest
    permissions:
      pull-requests: write
    steps:
      - run: |
          line() {
            [ -n "$2" ] && echo "- $1: $2 (\${3:-not checked})" || echo "- $1: no URL; see the log of this workflow"
          }
          {
            echo "Preview of $COMMIT:"
            echo
${names.map((name) => `            line ${name} "$URL_${variable(name)}" "$CHECK_${variable(name)}"\n`).join('')}          } | gh pr comment "$NUMBER" --repo "$GITHUB_REPOSITORY" --edit-last --create-if-none --body-file -
        env:
          GH_TOKEN: \${{ github.token }}
          NUMBER: \${{ github.event.number }}
          COMMIT: \${{ github.event.pull_request.head.sha }}
${names
  .flatMap((name) => ['url', 'check'].map((output) => [name, output] as const))
  .map(
    ([name, output]) =>
      `          ${output.toUpperCase()}_${variable(name)}: \${{ needs.${name}.outputs.${output} }}\n`,
  )
  .join('')}`
}

/** The check of a server that asks for a token fails without one. */
const CHECK_WITH_TOKEN = `$([ -n "$API_TOKEN" ] && echo --check --check-bearer-env API_TOKEN || echo --no-check)`

const TOKEN =
  "secret API_TOKEN: one that the previews accept, never production's; without it they are not checked"

function job({ name, ci }: WorkflowTarget, hasToken: boolean): string {
  const env = [
    ...(hasToken ? [`API_TOKEN: \${{ secrets.API_TOKEN }}`] : []),
    ...(ci.secrets ?? []).map((secret) => `${secret}: \${{ secrets.${secret} }}`),
    ...(ci.variables ?? []).map((variable) => `${variable}: \${{ vars.${variable} }}`),
  ]
  return `  ${name}:
    if: \${{ github.event.pull_request.head.repo.full_name == github.repository && github.actor != 'dependabot[bot]' }}
    runs-on: ubuntu-latest
    environment: preview
    permissions:
      contents: read
    outputs:
      url: \${{ steps.preview.outputs.url }}
      check: \${{ steps.preview.outputs.check }}
    steps:
      - uses: actions/checkout@v5
        with:
          persist-credentials: false
      - uses: actions/setup-node@v5
        with:
          node-version: 24
      - run: npm ci
      - run: npm test
      - id: preview
        # What becomes part of the comment is one URL, and letters, digits and commas.
        run: |
          code=0
          npx mayfly deploy --target ${name} --preview ${hasToken ? CHECK_WITH_TOKEN : '--check'} > preview.txt || code=$?
          cat preview.txt
          url=$(sed -n 's/^deployed \\(https:[A-Za-z0-9.:/_-]*\\)$/\\1/p' preview.txt | head -n 1)
          check=$(sed '/^deployed /d' preview.txt | tail -n 1 | tr -cd 'A-Za-z0-9 ,' | cut -c 1-100)
          echo "url=$url" >> "$GITHUB_OUTPUT"
          echo "check=$check" >> "$GITHUB_OUTPUT"
          exit "$code"
        env:
${env.map((line) => `          ${line}\n`).join('')}`
}

function variable(name: string): string {
  return name.toUpperCase().replaceAll('-', '_')
}
