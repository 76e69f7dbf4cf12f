DROP TRIGGER accounts_usage_insert;--> statement-breakpoint
DROP TRIGGER accounts_usage_update;--> statement-breakpoint
DROP TRIGGER accounts_usage_delete;--> statement-breakpoint
DROP TRIGGER keys_usage_insert;--> statement-breakpoint
DROP TRIGGER keys_usage_update;--> statement-breakpoint
DROP TRIGGER keys_usage_delete;--> statement-breakpoint
DROP TRIGGER sessions_usage_insert;--> statement-breakpoint
DROP TRIGGER sessions_usage_update;--> statement-breakpoint
DROP TRIGGER sessions_usage_delete;--> statement-breakpoint
DROP TRIGGER webhooks_usage_insert;--> statement-breakpoint
DROP TRIGGER webhooks_usage_update;--> statement-breakpoint
DROP TRIGGER webhooks_usage_delete;--> statement-breakpoint
CREATE TABLE `oauth_records` (
	`id` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL,
	`expires` integer NOT NULL,
	`is_unused` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `oauth_records_expires` ON `oauth_records` (`expires`);--> statement-breakpoint
CREATE INDEX `oauth_records_unused` ON `oauth_records` (`expires`) WHERE is_unused = 1;--> statement-breakpoint
CREATE TABLE `shares` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`record` text NOT NULL,
	`hash` text NOT NULL,
	`password` text,
	`group_id` text,
	`views` integer DEFAULT 0 NOT NULL,
	`last_viewed` integer,
	`creation` integer NOT NULL,
	`last_modified` integer NOT NULL,
	`version` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `shares_account` ON `shares` (`account_id`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `shares_hash` ON `shares` (`hash`);--> statement-breakpoint
ALTER TABLE `accounts` ADD `sandbox` text;--> statement-breakpoint
ALTER TABLE `accounts` ADD `sandbox_erases_at` integer;--> statement-breakpoint
CREATE INDEX `accounts_sandbox` ON `accounts` (`number`) WHERE sandbox IS NOT NULL;--> statement-breakpoint
CREATE INDEX `accounts_sandbox_end` ON `accounts` (`sandbox_erases_at`) WHERE sandbox_erases_at IS NOT NULL;--> statement-breakpoint
ALTER TABLE `directory` ADD `sandbox_of` text;--> statement-breakpoint
CREATE INDEX `directory_sandbox` ON `directory` (`sandbox_of`) WHERE sandbox_of IS NOT NULL;--> statement-breakpoint
ALTER TABLE `keys` ADD `api_version` text;--> statement-breakpoint
ALTER TABLE `sessions` ADD `agent` text;--> statement-breakpoint
ALTER TABLE `webhooks` ADD `format` text;--> statement-breakpoint
ALTER TABLE `webhooks` ADD `settings` text;--> statement-breakpoint
CREATE TRIGGER accounts_usage_insert AFTER INSERT ON accounts BEGIN
  INSERT INTO account_usage (account_id, day, locations, storage_bytes)
    VALUES (NEW.id, NEW.day, 0, 488 + octet_length(NEW.id) + octet_length(NEW.user_name) + octet_length(NEW.name) + octet_length(NEW.time_zone) + octet_length(NEW.day) + octet_length(NEW.status) + octet_length(NEW.status_message) + ifnull(octet_length(NEW.messages_per_day), 0) + ifnull(octet_length(NEW.emergency), 0) + ifnull(octet_length(NEW.sandbox), 0) + ifnull(octet_length(NEW.rules_version), 0))
    ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;
END;--> statement-breakpoint
CREATE TRIGGER accounts_usage_update AFTER UPDATE ON accounts WHEN (488 + octet_length(NEW.id) + octet_length(NEW.user_name) + octet_length(NEW.name) + octet_length(NEW.time_zone) + octet_length(NEW.day) + octet_length(NEW.status) + octet_length(NEW.status_message) + ifnull(octet_length(NEW.messages_per_day), 0) + ifnull(octet_length(NEW.emergency), 0) + ifnull(octet_length(NEW.sandbox), 0) + ifnull(octet_length(NEW.rules_version), 0))
    - (488 + octet_length(OLD.id) + octet_length(OLD.user_name) + octet_length(OLD.name) + octet_length(OLD.time_zone) + octet_length(OLD.day) + octet_length(OLD.status) + octet_length(OLD.status_message) + ifnull(octet_length(OLD.messages_per_day), 0) + ifnull(octet_length(OLD.emergency), 0) + ifnull(octet_length(OLD.sandbox), 0) + ifnull(octet_length(OLD.rules_version), 0)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (488 + octet_length(NEW.id) + octet_length(NEW.user_name) + octet_length(NEW.name) + octet_length(NEW.time_zone) + octet_length(NEW.day) + octet_length(NEW.status) + octet_length(NEW.status_message) + ifnull(octet_length(NEW.messages_per_day), 0) + ifnull(octet_length(NEW.emergency), 0) + ifnull(octet_length(NEW.sandbox), 0) + ifnull(octet_length(NEW.rules_version), 0))
    - (488 + octet_length(OLD.id) + octet_length(OLD.user_name) + octet_length(OLD.name) + octet_length(OLD.time_zone) + octet_length(OLD.day) + octet_length(OLD.status) + octet_length(OLD.status_message) + ifnull(octet_length(OLD.messages_per_day), 0) + ifnull(octet_length(OLD.emergency), 0) + ifnull(octet_length(OLD.sandbox), 0) + ifnull(octet_length(OLD.rules_version), 0)))
    WHERE account_id = NEW.id;
END;--> statement-breakpoint
CREATE TRIGGER accounts_usage_delete AFTER DELETE ON accounts BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(488 + octet_length(OLD.id) + octet_length(OLD.user_name) + octet_length(OLD.name) + octet_length(OLD.time_zone) + octet_length(OLD.day) + octet_length(OLD.status) + octet_length(OLD.status_message) + ifnull(octet_length(OLD.messages_per_day), 0) + ifnull(octet_length(OLD.emergency), 0) + ifnull(octet_length(OLD.sandbox), 0) + ifnull(octet_length(OLD.rules_version), 0)))
    WHERE account_id = OLD.id;
END;--> statement-breakpoint
CREATE TRIGGER keys_usage_insert AFTER INSERT ON keys BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 304 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.scopes) + octet_length(NEW.hash) + ifnull(octet_length(NEW.user_id), 0) + ifnull(octet_length(NEW.operator_id), 0) + ifnull(octet_length(NEW.support_reason), 0) + ifnull(octet_length(NEW.api_version), 0))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER keys_usage_update AFTER UPDATE ON keys WHEN (304 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.scopes) + octet_length(NEW.hash) + ifnull(octet_length(NEW.user_id), 0) + ifnull(octet_length(NEW.operator_id), 0) + ifnull(octet_length(NEW.support_reason), 0) + ifnull(octet_length(NEW.api_version), 0))
    - (304 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.scopes) + octet_length(OLD.hash) + ifnull(octet_length(OLD.user_id), 0) + ifnull(octet_length(OLD.operator_id), 0) + ifnull(octet_length(OLD.support_reason), 0) + ifnull(octet_length(OLD.api_version), 0)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (304 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.scopes) + octet_length(NEW.hash) + ifnull(octet_length(NEW.user_id), 0) + ifnull(octet_length(NEW.operator_id), 0) + ifnull(octet_length(NEW.support_reason), 0) + ifnull(octet_length(NEW.api_version), 0))
    - (304 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.scopes) + octet_length(OLD.hash) + ifnull(octet_length(OLD.user_id), 0) + ifnull(octet_length(OLD.operator_id), 0) + ifnull(octet_length(OLD.support_reason), 0) + ifnull(octet_length(OLD.api_version), 0)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER keys_usage_delete AFTER DELETE ON keys BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(304 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.scopes) + octet_length(OLD.hash) + ifnull(octet_length(OLD.user_id), 0) + ifnull(octet_length(OLD.operator_id), 0) + ifnull(octet_length(OLD.support_reason), 0) + ifnull(octet_length(OLD.api_version), 0)))
    WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
CREATE TRIGGER sessions_usage_insert AFTER INSERT ON sessions BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 176 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.user_id) + octet_length(NEW.user_agent) + ifnull(octet_length(NEW.agent), 0))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER sessions_usage_update AFTER UPDATE ON sessions WHEN (176 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.user_id) + octet_length(NEW.user_agent) + ifnull(octet_length(NEW.agent), 0))
    - (176 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.user_id) + octet_length(OLD.user_agent) + ifnull(octet_length(OLD.agent), 0)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (176 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.user_id) + octet_length(NEW.user_agent) + ifnull(octet_length(NEW.agent), 0))
    - (176 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.user_id) + octet_length(OLD.user_agent) + ifnull(octet_length(OLD.agent), 0)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER sessions_usage_delete AFTER DELETE ON sessions BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(176 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.user_id) + octet_length(OLD.user_agent) + ifnull(octet_length(OLD.agent), 0)))
    WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
INSERT INTO account_usage (account_id, day, locations, storage_bytes)
SELECT accounts.id, accounts.day, 0, sum(184 + octet_length(shares.id) + octet_length(shares.account_id) + octet_length(shares.record) + octet_length(shares.hash) + ifnull(octet_length(shares.password), 0) + ifnull(octet_length(shares.group_id), 0))
FROM shares JOIN accounts ON accounts.id = shares.account_id WHERE true GROUP BY accounts.id
ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;--> statement-breakpoint
CREATE TRIGGER shares_usage_insert AFTER INSERT ON shares BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 184 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.record) + octet_length(NEW.hash) + ifnull(octet_length(NEW.password), 0) + ifnull(octet_length(NEW.group_id), 0))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER shares_usage_update AFTER UPDATE ON shares WHEN (184 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.record) + octet_length(NEW.hash) + ifnull(octet_length(NEW.password), 0) + ifnull(octet_length(NEW.group_id), 0))
    - (184 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.record) + octet_length(OLD.hash) + ifnull(octet_length(OLD.password), 0) + ifnull(octet_length(OLD.group_id), 0)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (184 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.record) + octet_length(NEW.hash) + ifnull(octet_length(NEW.password), 0) + ifnull(octet_length(NEW.group_id), 0))
    - (184 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.record) + octet_length(OLD.hash) + ifnull(octet_length(OLD.password), 0) + ifnull(octet_length(OLD.group_id), 0)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER shares_usage_delete AFTER DELETE ON shares BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(184 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.record) + octet_length(OLD.hash) + ifnull(octet_length(OLD.password), 0) + ifnull(octet_length(OLD.group_id), 0)))
    WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
CREATE TRIGGER webhooks_usage_insert AFTER INSERT ON webhooks BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 192 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.url) + octet_length(NEW.events) + octet_length(NEW.devices) + octet_length(NEW.groups) + octet_length(NEW.description) + ifnull(octet_length(NEW.disabled_reason), 0) + ifnull(octet_length(NEW.format), 0) + ifnull(octet_length(NEW.settings), 0))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER webhooks_usage_update AFTER UPDATE ON webhooks WHEN (192 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.url) + octet_length(NEW.events) + octet_length(NEW.devices) + octet_length(NEW.groups) + octet_length(NEW.description) + ifnull(octet_length(NEW.disabled_reason), 0) + ifnull(octet_length(NEW.format), 0) + ifnull(octet_length(NEW.settings), 0))
    - (192 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.url) + octet_length(OLD.events) + octet_length(OLD.devices) + octet_length(OLD.groups) + octet_length(OLD.description) + ifnull(octet_length(OLD.disabled_reason), 0) + ifnull(octet_length(OLD.format), 0) + ifnull(octet_length(OLD.settings), 0)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (192 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.url) + octet_length(NEW.events) + octet_length(NEW.devices) + octet_length(NEW.groups) + octet_length(NEW.description) + ifnull(octet_length(NEW.disabled_reason), 0) + ifnull(octet_length(NEW.format), 0) + ifnull(octet_length(NEW.settings), 0))
    - (192 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.url) + octet_length(OLD.events) + octet_length(OLD.devices) + octet_length(OLD.groups) + octet_length(OLD.description) + ifnull(octet_length(OLD.disabled_reason), 0) + ifnull(octet_length(OLD.format), 0) + ifnull(octet_length(OLD.settings), 0)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER webhooks_usage_delete AFTER DELETE ON webhooks BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(192 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.url) + octet_length(OLD.events) + octet_length(OLD.devices) + octet_length(OLD.groups) + octet_length(OLD.description) + ifnull(octet_length(OLD.disabled_reason), 0) + ifnull(octet_length(OLD.format), 0) + ifnull(octet_length(OLD.settings), 0)))
    WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
CREATE TRIGGER shares_move_insert BEFORE INSERT ON shares
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'shares', json_array(NEW.id) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER shares_move_update BEFORE UPDATE ON shares
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'shares', json_array(OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER shares_move_delete BEFORE DELETE ON shares
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'shares', json_array(OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;
