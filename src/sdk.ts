/**
 * Bring your own server: a server of an official SDK, with Mayfly's guard, auth, adapters and CLI. A separate entry point; the SDKs
 * are optional peer dependencies.
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
