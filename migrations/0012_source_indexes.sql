ALTER TABLE `unclaimed` ADD `claimed_at` integer;--> statement-breakpoint
CREATE INDEX `unclaimed_claimed` ON `unclaimed` (`claimed_at`) WHERE claimed_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `unclaimed_reports_identifier` ON `unclaimed_reports` (`source_id`,`identifier_key`);
