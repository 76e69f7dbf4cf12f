CREATE TABLE `stays` (
	`device_key` integer PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`record` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `stays_account` ON `stays` (`account_id`);--> statement-breakpoint
INSERT INTO account_usage (account_id, day, locations, storage_bytes)
SELECT accounts.id, accounts.day, 0, sum(88 + octet_length(stays.account_id) + octet_length(stays.record))
FROM stays JOIN accounts ON accounts.id = stays.account_id WHERE true GROUP BY accounts.id
ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;--> statement-breakpoint
CREATE TRIGGER stays_usage_insert AFTER INSERT ON stays BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 88 + octet_length(NEW.account_id) + octet_length(NEW.record))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER stays_usage_update AFTER UPDATE ON stays WHEN (88 + octet_length(NEW.account_id) + octet_length(NEW.record))
    - (88 + octet_length(OLD.account_id) + octet_length(OLD.record)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (88 + octet_length(NEW.account_id) + octet_length(NEW.record))
    - (88 + octet_length(OLD.account_id) + octet_length(OLD.record)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER stays_usage_delete AFTER DELETE ON stays BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(88 + octet_length(OLD.account_id) + octet_length(OLD.record)))
    WHERE account_id = OLD.account_id;
END;
