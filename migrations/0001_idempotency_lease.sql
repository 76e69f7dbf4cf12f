ALTER TABLE `idempotency` ADD `leased_until` integer DEFAULT 0 NOT NULL;
