DROP TRIGGER accounts_usage_insert;--> statement-breakpoint
DROP TRIGGER accounts_usage_update;--> statement-breakpoint
DROP TRIGGER accounts_usage_delete;--> statement-breakpoint
ALTER TABLE `accounts` ADD `max_users` integer;--> statement-breakpoint
CREATE TRIGGER accounts_usage_insert AFTER INSERT ON accounts BEGIN
  INSERT INTO account_usage (account_id, day, locations, storage_bytes)
    VALUES (NEW.id, NEW.day, 0, 248 + octet_length(NEW.id) + octet_length(NEW.user_name) + octet_length(NEW.name) + octet_length(NEW.time_zone) + octet_length(NEW.day) + ifnull(octet_length(NEW.messages_per_day), 0) + ifnull(octet_length(NEW.emergency), 0) + ifnull(octet_length(NEW.rules_version), 0))
    ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;
END;--> statement-breakpoint
CREATE TRIGGER accounts_usage_update AFTER UPDATE ON accounts WHEN (248 + octet_length(NEW.id) + octet_length(NEW.user_name) + octet_length(NEW.name) + octet_length(NEW.time_zone) + octet_length(NEW.day) + ifnull(octet_length(NEW.messages_per_day), 0) + ifnull(octet_length(NEW.emergency), 0) + ifnull(octet_length(NEW.rules_version), 0))
    - (248 + octet_length(OLD.id) + octet_length(OLD.user_name) + octet_length(OLD.name) + octet_length(OLD.time_zone) + octet_length(OLD.day) + ifnull(octet_length(OLD.messages_per_day), 0) + ifnull(octet_length(OLD.emergency), 0) + ifnull(octet_length(OLD.rules_version), 0)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (248 + octet_length(NEW.id) + octet_length(NEW.user_name) + octet_length(NEW.name) + octet_length(NEW.time_zone) + octet_length(NEW.day) + ifnull(octet_length(NEW.messages_per_day), 0) + ifnull(octet_length(NEW.emergency), 0) + ifnull(octet_length(NEW.rules_version), 0))
    - (248 + octet_length(OLD.id) + octet_length(OLD.user_name) + octet_length(OLD.name) + octet_length(OLD.time_zone) + octet_length(OLD.day) + ifnull(octet_length(OLD.messages_per_day), 0) + ifnull(octet_length(OLD.emergency), 0) + ifnull(octet_length(OLD.rules_version), 0)))
    WHERE account_id = NEW.id;
END;--> statement-breakpoint
CREATE TRIGGER accounts_usage_delete AFTER DELETE ON accounts BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(248 + octet_length(OLD.id) + octet_length(OLD.user_name) + octet_length(OLD.name) + octet_length(OLD.time_zone) + octet_length(OLD.day) + ifnull(octet_length(OLD.messages_per_day), 0) + ifnull(octet_length(OLD.emergency), 0) + ifnull(octet_length(OLD.rules_version), 0)))
    WHERE account_id = OLD.id;
END;
