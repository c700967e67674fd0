import { afterAll, describe, it } from 'vitest';
import { storeConformance } from '../../src/store/conformance.js';
import { S3Store } from '../../src/store/s3.js';
import { startS3Server } from '../support/s3-server.js';
import { testContext } from '../support/store-context.js';

const server = await startS3Server();
const ctx = testContext();

describe.skipIf(!server)('S3Store on a real server', () => {
  afterAll(() => server?.stop());
  for (const { name, run } of storeConformance())
    it(name, async () => {
      if (!server) return;
      await run(new S3Store(ctx, { bucket: server.bucket, prefix: 'some/table' }, server.options), ctx);
    });
});
