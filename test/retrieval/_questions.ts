/** Questions about this project's documentation, each with the page that answers it. */
export const QUESTIONS: readonly (readonly [question: string, file: string])[] = [
  ['How do I verify JWT access tokens and restrict tools by scopes?', 'docs/auth-reference.md'],
  ['How can a tool ask its user a question without a session?', 'docs/asking.md'],
  ['Which header carries the signature of a webhook, and how is it computed?', 'docs/webhook.md'],
  ['What happens to change notifications while Redis is down?', 'docs/events.md'],
  ['How do I deploy to AWS Lambda behind a function URL?', 'docs/deploy/lambda.md'],
  ['How do I move my Mastra server to Mayfly?', 'docs/migrate/mastra.md'],
  [
    'How large may the body of an HTTP request be (`http.maxBodyBytes`) before the guard refuses it with 413?',
    'docs/http.md',
  ],
  ['How does MCPClient reconnect, and which errors does a failed call throw?', 'docs/client.md'],
  ['What does the command mayfly doctor check for a target before it is deployed?', 'docs/cli.md'],
  ['Can I mount the server inside a Hono or Next.js app?', 'docs/mounting.md'],
  ['How do I put a server built with the official SDK behind Mayfly unchanged?', 'docs/bring-your-own.md'],
  ['How do I test a tool by calling it directly?', 'docs/testing.md'],
  ['What is in the context: the caller, its signal, progress and waitUntil?', 'docs/context.md'],
  ['How do I serve resource templates with completion?', 'docs/resources-and-prompts.md'],
  ['What does a cold start cost compared with the SDK?', 'docs/performance.md'],
  [
    'What is a rendezvous: how do answers of legacy clients meet the call that waits, across isolates and processes?',
    'docs/rendezvous.md',
  ],
  ['How do I run the server over stdio or keep sessions in a long-lived process?', 'docs/sessions.md'],
  ['How can I check a deployed server of somebody else for mistakes?', 'docs/check.md'],
  ['Which output can a tool return, and what does outputSchema validate?', 'docs/tools.md'],
  ['How do I migrate from FastMCP?', 'docs/migrate/fastmcp.md'],
]

/** How many have the right page among the sources of the first three results. */
export async function countRight(
  search: (queryText: string) => Promise<readonly string[]>,
): Promise<{ readonly right: number; readonly wrong: readonly string[] }> {
  const wrong: string[] = []
  for (const [question, file] of QUESTIONS) {
    const sources = await search(question)
    if (!sources.slice(0, 3).includes(file)) wrong.push(`${question} → ${sources.slice(0, 3).join(', ')}`)
  }
  return { right: QUESTIONS.length - wrong.length, wrong }
}
