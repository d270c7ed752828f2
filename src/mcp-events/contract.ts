/**
 * What MCP Events needs to send a webhook (SEP-3415, "Webhook-Based Delivery"): the parts of `deliver/`, as subscriptions and deliveries use
 * them.
 */

/** What is posted. */
export interface EventPost {
  readonly headers: { readonly [name: string]: string }
  readonly body: string
}

/** The limits of one request. */
export interface PostLimits {
  /** Milliseconds until the headers of the response, and its body if it is read. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
  /**
   * Bytes of the response's body that are returned, for the challenge of the verification alone. A longer body is `too-large`. Default: the
   * body is not read.
   */
  readonly maxBodyBytes?: number | undefined
  /** Whether the URL is of this machine and may be reached: by the option `allowLoopback` of `events`, or in `mayfly dev`. Default false. */
  readonly allowLoopback?: boolean | undefined
}

/** Why there was no response. */
export type PostFailure =
  | 'timeout'
  | 'refused'
  | 'address'
  | 'redirect'
  | 'tls'
  | 'dns'
  | 'too-large'
  | 'other'

export type PostOutcome =
  | {
      readonly status: number
      /** Milliseconds that a header `Retry-After` demands, for 429 and 503. Undefined: none. */
      readonly retryAfterMs?: number | undefined
      /** With `maxBodyBytes` only. */
      readonly body?: string | undefined
    }
  | { readonly failure: PostFailure }

/**
 * Sends a `POST` to the URL of a client. Follows no redirect, reaches no address that is not public (unless it is configured so), and reads
 * no body but that of a challenge. Never rejects, except for the reason of an aborted `signal`.
 */
export interface EventSender {
  post(url: string, request: EventPost, limits: PostLimits): Promise<PostOutcome>
}

/** What `deliveryStatus.lastError` and `data.reason` of `-32015` may say: the response itself never reaches a caller (SEP-3415). */
export type DeliveryError =
  | 'connection_refused'
  | 'timeout'
  | 'tls_error'
  | 'http_4xx'
  | 'http_5xx'
  | 'challenge_failed'

/** Headers of a delivery: `content-type`, `webhook-id`, `webhook-timestamp`, `webhook-signature`. */
export type SignHeaders = (
  /** `whsec_…`: each of them signs, the newest first. */
  secrets: readonly string[],
  webhookId: string,
  timestampSeconds: number,
  body: string,
) => Promise<{ [name: string]: string }>

/** Whether the endpoint at the URL wants deliveries: it has returned a signed challenge. */
export type VerifyEndpoint = (
  sender: EventSender,
  target: {
    readonly url: string
    readonly subscriptionId: string
    readonly secrets: readonly string[]
    readonly timeoutMs: number
    readonly signal?: AbortSignal | undefined
  },
) => Promise<{ readonly isVerified: true } | { readonly isVerified: false; readonly reason: DeliveryError }>
