import { expect, test } from 'vitest'

test('the runtime keeps an object in memory while its work is pending', () => {
  expect(Cloudflare.compatibilityFlags).toMatchObject({
    durable_object_io_tasks_prevent_eviction: true,
    global_fetch_strictly_public: true,
  })
})
