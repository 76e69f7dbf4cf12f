DROP TRIGGER alerts_usage_insert;--> statement-breakpoint
DROP TRIGGER alerts_usage_update;--> statement-breakpoint
DROP TRIGGER alerts_usage_delete;--> statement-breakpoint
DROP TRIGGER users_usage_insert;--> statement-breakpoint
DROP TRIGGER users_usage_update;--> statement-breakpoint
DROP TRIGGER users_usage_delete;--> statement-breakpoint
CREATE TABLE `push_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`public_key` text NOT NULL,
	`private_key` text NOT NULL,
	`creation` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `push_subscriptions` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`user_id` text NOT NULL,
	`session_id` text,
	`endpoint` text NOT NULL,
	`p256dh` text NOT NULL,
	`auth` text NOT NULL,
	`key_id` text NOT NULL,
	`user_agent` text NOT NULL,
	`creation` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `push_subscriptions_user` ON `push_subscriptions` (`account_id`,`user_id`,`creation`);--> statement-breakpoint
CREATE INDEX `push_subscriptions_key` ON `push_subscriptions` (`key_id`);--> statement-breakpoint
CREATE TABLE `watches` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`device_key` integer NOT NULL,
	`record` text NOT NULL,
	`state` text NOT NULL,
	`since` integer NOT NULL,
	`next_due` integer NOT NULL,
	`reminded` integer,
	`last_check_in` integer,
	`alert_id` text,
	`check_at` integer NOT NULL,
	`link` text NOT NULL,
	`creation` integer NOT NULL,
	`last_modified` integer NOT NULL,
	`version` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `watches_account` ON `watches` (`account_id`,`id`);--> statement-breakpoint
CREATE INDEX `watches_device` ON `watches` (`device_key`);--> statement-breakpoint
CREATE UNIQUE INDEX `watches_link` ON `watches` (`link`);--> statement-breakpoint
CREATE INDEX `watches_active` ON `watches` (`check_at`,`id`) WHERE state = 'active';--> statement-breakpoint
CREATE INDEX `watches_overdue` ON `watches` (`creation`,`id`) WHERE state = 'overdue';--> statement-breakpoint
ALTER TABLE `alerts` ADD `place` text;--> statement-breakpoint
ALTER TABLE `users` ADD `notify_push` integer DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE `users` ADD `notify_voice` integer DEFAULT false NOT NULL;--> statement-breakpoint
CREATE TRIGGER alerts_usage_insert AFTER INSERT ON alerts BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 336 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.text) + octet_length(NEW.position_source) + ifnull(octet_length(NEW.acknowledged_by), 0) + ifnull(octet_length(NEW.resolved_by), 0) + ifnull(octet_length(NEW.cancelled_by), 0) + ifnull(octet_length(NEW.raised_by), 0) + ifnull(octet_length(NEW.updates), 0) + ifnull(octet_length(NEW.rule_id), 0) + ifnull(octet_length(NEW.zone_id), 0) + ifnull(octet_length(NEW.place), 0))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER alerts_usage_update AFTER UPDATE ON alerts WHEN (336 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.text) + octet_length(NEW.position_source) + ifnull(octet_length(NEW.acknowledged_by), 0) + ifnull(octet_length(NEW.resolved_by), 0) + ifnull(octet_length(NEW.cancelled_by), 0) + ifnull(octet_length(NEW.raised_by), 0) + ifnull(octet_length(NEW.updates), 0) + ifnull(octet_length(NEW.rule_id), 0) + ifnull(octet_length(NEW.zone_id), 0) + ifnull(octet_length(NEW.place), 0))
    - (336 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.text) + octet_length(OLD.position_source) + ifnull(octet_length(OLD.acknowledged_by), 0) + ifnull(octet_length(OLD.resolved_by), 0) + ifnull(octet_length(OLD.cancelled_by), 0) + ifnull(octet_length(OLD.raised_by), 0) + ifnull(octet_length(OLD.updates), 0) + ifnull(octet_length(OLD.rule_id), 0) + ifnull(octet_length(OLD.zone_id), 0) + ifnull(octet_length(OLD.place), 0)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (336 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.text) + octet_length(NEW.position_source) + ifnull(octet_length(NEW.acknowledged_by), 0) + ifnull(octet_length(NEW.resolved_by), 0) + ifnull(octet_length(NEW.cancelled_by), 0) + ifnull(octet_length(NEW.raised_by), 0) + ifnull(octet_length(NEW.updates), 0) + ifnull(octet_length(NEW.rule_id), 0) + ifnull(octet_length(NEW.zone_id), 0) + ifnull(octet_length(NEW.place), 0))
    - (336 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.text) + octet_length(OLD.position_source) + ifnull(octet_length(OLD.acknowledged_by), 0) + ifnull(octet_length(OLD.resolved_by), 0) + ifnull(octet_length(OLD.cancelled_by), 0) + ifnull(octet_length(OLD.raised_by), 0) + ifnull(octet_length(OLD.updates), 0) + ifnull(octet_length(OLD.rule_id), 0) + ifnull(octet_length(OLD.zone_id), 0) + ifnull(octet_length(OLD.place), 0)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER alerts_usage_delete AFTER DELETE ON alerts BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(336 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.text) + octet_length(OLD.position_source) + ifnull(octet_length(OLD.acknowledged_by), 0) + ifnull(octet_length(OLD.resolved_by), 0) + ifnull(octet_length(OLD.cancelled_by), 0) + ifnull(octet_length(OLD.raised_by), 0) + ifnull(octet_length(OLD.updates), 0) + ifnull(octet_length(OLD.rule_id), 0) + ifnull(octet_length(OLD.zone_id), 0) + ifnull(octet_length(OLD.place), 0)))
    WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
INSERT INTO account_usage (account_id, day, locations, storage_bytes)
SELECT accounts.id, accounts.day, 0, sum(152 + octet_length(push_subscriptions.id) + octet_length(push_subscriptions.account_id) + octet_length(push_subscriptions.user_id) + ifnull(octet_length(push_subscriptions.session_id), 0) + octet_length(push_subscriptions.endpoint) + octet_length(push_subscriptions.p256dh) + octet_length(push_subscriptions.auth) + octet_length(push_subscriptions.key_id) + octet_length(push_subscriptions.user_agent))
FROM push_subscriptions JOIN accounts ON accounts.id = push_subscriptions.account_id WHERE true GROUP BY accounts.id
ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;--> statement-breakpoint
CREATE TRIGGER push_subscriptions_usage_insert AFTER INSERT ON push_subscriptions BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 152 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.user_id) + ifnull(octet_length(NEW.session_id), 0) + octet_length(NEW.endpoint) + octet_length(NEW.p256dh) + octet_length(NEW.auth) + octet_length(NEW.key_id) + octet_length(NEW.user_agent))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER push_subscriptions_usage_update AFTER UPDATE ON push_subscriptions WHEN (152 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.user_id) + ifnull(octet_length(NEW.session_id), 0) + octet_length(NEW.endpoint) + octet_length(NEW.p256dh) + octet_length(NEW.auth) + octet_length(NEW.key_id) + octet_length(NEW.user_agent))
    - (152 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.user_id) + ifnull(octet_length(OLD.session_id), 0) + octet_length(OLD.endpoint) + octet_length(OLD.p256dh) + octet_length(OLD.auth) + octet_length(OLD.key_id) + octet_length(OLD.user_agent)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (152 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.user_id) + ifnull(octet_length(NEW.session_id), 0) + octet_length(NEW.endpoint) + octet_length(NEW.p256dh) + octet_length(NEW.auth) + octet_length(NEW.key_id) + octet_length(NEW.user_agent))
    - (152 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.user_id) + ifnull(octet_length(OLD.session_id), 0) + octet_length(OLD.endpoint) + octet_length(OLD.p256dh) + octet_length(OLD.auth) + octet_length(OLD.key_id) + octet_length(OLD.user_agent)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER push_subscriptions_usage_delete AFTER DELETE ON push_subscriptions BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(152 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.user_id) + ifnull(octet_length(OLD.session_id), 0) + octet_length(OLD.endpoint) + octet_length(OLD.p256dh) + octet_length(OLD.auth) + octet_length(OLD.key_id) + octet_length(OLD.user_agent)))
    WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
CREATE TRIGGER users_usage_insert AFTER INSERT ON users BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 456 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.name_key) + octet_length(NEW.email) + octet_length(NEW.email_key) + octet_length(NEW.country) + octet_length(NEW.time_zone) + ifnull(octet_length(NEW.phone), 0) + octet_length(NEW.description) + octet_length(NEW.message) + octet_length(NEW.disabled_message) + octet_length(NEW.tags) + octet_length(NEW.privileges) + ifnull(octet_length(NEW.group_id), 0) + ifnull(octet_length(NEW.device_id), 0) + ifnull(octet_length(NEW.password), 0))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER users_usage_update AFTER UPDATE ON users WHEN (456 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.name_key) + octet_length(NEW.email) + octet_length(NEW.email_key) + octet_length(NEW.country) + octet_length(NEW.time_zone) + ifnull(octet_length(NEW.phone), 0) + octet_length(NEW.description) + octet_length(NEW.message) + octet_length(NEW.disabled_message) + octet_length(NEW.tags) + octet_length(NEW.privileges) + ifnull(octet_length(NEW.group_id), 0) + ifnull(octet_length(NEW.device_id), 0) + ifnull(octet_length(NEW.password), 0))
    - (456 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.name_key) + octet_length(OLD.email) + octet_length(OLD.email_key) + octet_length(OLD.country) + octet_length(OLD.time_zone) + ifnull(octet_length(OLD.phone), 0) + octet_length(OLD.description) + octet_length(OLD.message) + octet_length(OLD.disabled_message) + octet_length(OLD.tags) + octet_length(OLD.privileges) + ifnull(octet_length(OLD.group_id), 0) + ifnull(octet_length(OLD.device_id), 0) + ifnull(octet_length(OLD.password), 0)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (456 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.name_key) + octet_length(NEW.email) + octet_length(NEW.email_key) + octet_length(NEW.country) + octet_length(NEW.time_zone) + ifnull(octet_length(NEW.phone), 0) + octet_length(NEW.description) + octet_length(NEW.message) + octet_length(NEW.disabled_message) + octet_length(NEW.tags) + octet_length(NEW.privileges) + ifnull(octet_length(NEW.group_id), 0) + ifnull(octet_length(NEW.device_id), 0) + ifnull(octet_length(NEW.password), 0))
    - (456 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.name_key) + octet_length(OLD.email) + octet_length(OLD.email_key) + octet_length(OLD.country) + octet_length(OLD.time_zone) + ifnull(octet_length(OLD.phone), 0) + octet_length(OLD.description) + octet_length(OLD.message) + octet_length(OLD.disabled_message) + octet_length(OLD.tags) + octet_length(OLD.privileges) + ifnull(octet_length(OLD.group_id), 0) + ifnull(octet_length(OLD.device_id), 0) + ifnull(octet_length(OLD.password), 0)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER users_usage_delete AFTER DELETE ON users BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(456 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.name_key) + octet_length(OLD.email) + octet_length(OLD.email_key) + octet_length(OLD.country) + octet_length(OLD.time_zone) + ifnull(octet_length(OLD.phone), 0) + octet_length(OLD.description) + octet_length(OLD.message) + octet_length(OLD.disabled_message) + octet_length(OLD.tags) + octet_length(OLD.privileges) + ifnull(octet_length(OLD.group_id), 0) + ifnull(octet_length(OLD.device_id), 0) + ifnull(octet_length(OLD.password), 0)))
    WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
INSERT INTO account_usage (account_id, day, locations, storage_bytes)
SELECT accounts.id, accounts.day, 0, sum(408 + octet_length(watches.id) + octet_length(watches.account_id) + octet_length(watches.record) + octet_length(watches.state) + ifnull(octet_length(watches.alert_id), 0) + octet_length(watches.link))
FROM watches JOIN accounts ON accounts.id = watches.account_id WHERE true GROUP BY accounts.id
ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;--> statement-breakpoint
CREATE TRIGGER watches_usage_insert AFTER INSERT ON watches BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 408 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.record) + octet_length(NEW.state) + ifnull(octet_length(NEW.alert_id), 0) + octet_length(NEW.link))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER watches_usage_update AFTER UPDATE ON watches WHEN (408 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.record) + octet_length(NEW.state) + ifnull(octet_length(NEW.alert_id), 0) + octet_length(NEW.link))
    - (408 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.record) + octet_length(OLD.state) + ifnull(octet_length(OLD.alert_id), 0) + octet_length(OLD.link)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (408 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.record) + octet_length(NEW.state) + ifnull(octet_length(NEW.alert_id), 0) + octet_length(NEW.link))
    - (408 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.record) + octet_length(OLD.state) + ifnull(octet_length(OLD.alert_id), 0) + octet_length(OLD.link)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER watches_usage_delete AFTER DELETE ON watches BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(408 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.record) + octet_length(OLD.state) + ifnull(octet_length(OLD.alert_id), 0) + octet_length(OLD.link)))
    WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
UPDATE rules SET record = json_set(record, '$.notifications', json('["Email","SMS","Push","Voice"]'))
WHERE record ->> '$.notifications' = '["Email","SMS"]';
