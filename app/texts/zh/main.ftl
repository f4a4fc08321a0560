problem-missing = 请填写此项。
