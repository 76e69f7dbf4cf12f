# Written by `npm run openapi` from public/api/openapi.json. Do not edit.
