/**
 * Bring your own server: one of an official SDK, behind our guard, auth, adapters and CLI. A separate entry point; the SDKs are
 * optional peers.
 */
export {
  type FromSdkOptions,
  fromSdk,
  type SdkContext,
  type SdkServer,
  type SdkServerFactory,
} from './sdk/from-sdk.ts'
export type { GuardedNames } from './sdk/guarded.ts'
export type { HostedConfig, HostedServer } from './sdk/host.ts'
