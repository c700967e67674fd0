/** Keys that sign requests. */
export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  /** When they end; a provider function is then asked again shortly before. */
  readonly expiration?: Date;
}

/** How an S3 store is reached. Whatever is left out comes from the environment and the profile, as the AWS tools read them. */
export interface S3Options {
  /** The server's address, `https://host:port`. Default: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the profile's endpoint_url, else AWS. */
  readonly endpoint?: string;
  /** Default: AWS_REGION, AWS_DEFAULT_REGION, the profile's region, else us-east-1 where the endpoint is not AWS. */
  readonly region?: string;
  /** Default: the AWS default chain (environment, profile, SSO, web identity, container, instance). */
  readonly credentials?: S3Credentials | (() => Promise<S3Credentials>);
  /** `endpoint/bucket/key` instead of `bucket.endpoint/key`. Default: true where the endpoint is not AWS. */
  readonly forcePathStyle?: boolean;
  /** The longest wait, in milliseconds, for an answer to begin (on top of 1 ms for every 100 bytes sent) and between two pieces of it. Default 30,000. */
  readonly requestTimeoutMs?: number;
  /** The longest time, in milliseconds, that passing faults of one operation are tried again. Default 60,000. */
  readonly retryForMs?: number;
  /** Connections at once to one endpoint. Default 50. */
  readonly maxSockets?: number;
  /** Encryption of every object put. Default: the bucket's. */
  readonly serverSideEncryption?: 'AES256' | 'aws:kms' | 'aws:kms:dsse';
  /** The KMS key for the two `aws:kms` kinds. */
  readonly kmsKeyId?: string;
  /** Storage class of every object put. Default: the bucket's. */
  readonly storageClass?: string;
  /** States that the caller pays for the requests, in buckets that ask for it. */
  readonly requestPayer?: boolean;
  /**
   * States that nothing else ever writes to the tables reached with these options. A server that ignores If-None-Match is then used all the
   * same: the store looks whether the object is there before it puts it, which protects against nothing but sequential mistakes.
   */
  readonly singleWriter?: boolean;
}

/** The options with a default each filled in. */
export interface S3Settings extends S3Options {
  readonly requestTimeoutMs: number;
  readonly retryForMs: number;
  readonly maxSockets: number;
}

/** Fills in the defaults that do not depend on the environment. */
export function s3Settings(options: S3Options): S3Settings {
  return {
    ...options,
    requestTimeoutMs: options.requestTimeoutMs ?? 30_000,
    retryForMs: options.retryForMs ?? 60_000,
    maxSockets: options.maxSockets ?? 50,
  };
}
