/** Chromium without its windows, which takes half the processor time of `chromium`, and a page of which everything that goes wrong is collected. */
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'

export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: '/usr/bin/chromium-headless-shell',
    args: [
      '--no-sandbox',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
    ],
  })
}

export interface Opened extends AsyncDisposable {
  readonly page: Page
  readonly context: BrowserContext
  /** Console errors and warnings, exceptions, violations of the policy, dialogs, and requests to other origins. */
  readonly complaints: string[]
}

export async function openPage(
  browser: Browser,
  url: string,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<Opened> {
  const context = await browser.newContext(options)
  context.setDefaultTimeout(20_000)
  const page = await context.newPage()
  const complaints: string[] = []
  const { origin } = new URL(url)
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('dialog', (dialog) => {
    complaints.push(`dialog ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    const asked = new URL(request.url())
    if (asked.origin !== origin && asked.protocol !== 'data:') complaints.push(`requested ${request.url()}`)
  })
  await page.addInitScript(() =>
    document.addEventListener('securitypolicyviolation', (event) =>
      console.error(`CSP: ${event.violatedDirective} ${event.blockedURI}`),
    ),
  )
  await page.goto(url)
  return { page, context, complaints, [Symbol.asyncDispose]: () => context.close() }
}

/** The playground at `url`, connected with its server. */
export async function openPlayground(...given: Parameters<typeof openPage>): Promise<Opened> {
  const opened = await openPage(...given)
  await opened.page.getByRole('status').getByText('Connected').waitFor()
  return opened
}

/** Colour scheme, width and height: a large and a small window. What axe says of the contrast is asked in both schemes. */
export const VIEWS = [
  ['light', 1280, 900],
  ['dark', 320, 640],
] as const
