"""What Python libraries raise while they set up, read their settings or load a checkpoint: a fixed sample of each source.

`# source version: how many of how many`, and below it `Type|file|function|message`; \\n is an escape. The rows were read off the
sources: every `raise` and `assert` with words in a function that sets up, checks, loads or downloads, less those that a job cannot
meet (what a class must implement, shapes and dtypes). Thirty of each by hash, so that nobody chose them.
"""

RAISED = r"""
# deepspeed edaa722 of 2026-08-22: 30 of 317
FileNotFoundError|deepspeed/checkpoint/autoep_universal.py|resolve_expert_ckpt_path|Expert checkpoint file not found: layer_foo expert_foo in /data/run7/x
AssertionError|deepspeed/checkpoint/ds_to_universal.py|_check_for_required_state|Required /data/run7/x state is missing in checkpoint. Verify that client creates this state.
RuntimeError|deepspeed/checkpoint/reshape_3d_utils.py|get_model_3d_descriptor_from_metadata|Checkpoint model-state file count /data/run7/x does not match /data/run7/x=8 * /data/run7/x=8.
AssertionError|deepspeed/checkpoint/universal_checkpoint.py|_narrow_sub_params|Sub-parameter sizes foo are not divisible by tp_world_size 8, and this metadata records no sub_param_shard_widths, so its uneven layout cannot be reco
ElasticityConfigError|deepspeed/elasticity/config.py|__init__|Elasticity min/max gpus must be > 0, given min_gpus: 8, max_gpus: 8
ElasticityConfigError|deepspeed/elasticity/config.py|__init__|Model-Parallel size cannot be less than 1, given model-parallel size: 8
ElasticityConfigError|deepspeed/elasticity/elasticity.py|compute_elastic_config|'foo' is missing from config json, please add it if running an elastic training job.
ValueError|deepspeed/launcher/launch.py|main|Don't use both the '--no_python' flag and the '--module' flag at the same time.
ValueError|deepspeed/launcher/runner.py|parse_resource_filter|No slot 'foo' specified on host 'foo'
AssertionError|deepspeed/moe/layer.py|__init__|Number of experts (8) should be divisible by expert parallel size (8)
Exception|deepspeed/runtime/activation_checkpointing/checkpointing.py|add|cuda rng state 8 already exists
DeepSpeedConfigError|deepspeed/runtime/config.py|get_checkpoint_tag_validation_mode|Checkpoint config contains invalid tag_validation value of 8, expecting one of /data/run7/x
ValueError|deepspeed/runtime/config.py|__init__|Expected a string path to an existing deepspeed config, or a dictionary or a valid base64. Received: foo
AssertionError|deepspeed/runtime/config.py|_do_error_check|bf16_optimizer_states requires bf16_master_weights_and_grads to be enabled.
AssertionError|deepspeed/runtime/data_pipeline/curriculum_scheduler.py|__init__|Curriculum learning with fixed_linear schedule requires the schedule_config '8'
AssertionError|deepspeed/runtime/engine.py|_validate_zero3_moe_compatibility|MoE not supported with Stage 3
ZeRORuntimeException|deepspeed/runtime/engine.py|_load_zero_checkpoint|The checkpoint being loaded used a DP world size of /data/run7/x but the current world size is 8. Automatic adjustment of ZeRO's optimizer state parti
AssertionError|deepspeed/runtime/engine.py|_configure_zero_optimizer|zero stage 8 requires an optimizer
SystemError|deepspeed/runtime/fp16/unfused_optimizer.py|__init__|Cannot use torch.float32 without accelerator.
ValueError|deepspeed/runtime/lr_schedules.py|_initialize_cycle|cycle_first_step_size must be positive, got 8
ValueError|deepspeed/runtime/lr_schedules.py|_initialize_cycle|cycle_second_step_size must be non-negative, got 8
AssertionError|deepspeed/runtime/model_checkpointing/data_parallel_writer_factory.py|_get_expert_data_parallel_config|3D parallelism is not yet supported for data parallel checkpointing.
AssertionError|deepspeed/runtime/model_checkpointing/writer_factory.py|create_writer|Cannot create checkpoint writer for /data/run7/x because writer is currently used for /data/run7/x.            Must call writer.release() before reusi
AssertionError|deepspeed/runtime/pipe/engine.py|__init__|Elasticity is not currently supported with pipeline parallelism.
ValueError|deepspeed/runtime/precision_config.py|_reject_non_integer_scale_params|foo must be an integer, not bool
RuntimeError|deepspeed/runtime/sequence_parallel/parallel_state_sp.py|initialize_sequence_parallel|world_size (8) is not divisible by sequence_parallel_size 8)
ValueError|deepspeed/runtime/tensor_parallel/init_utils.py|merge_tp_model_init_into_config|tp_model_init provided tp_group; deepspeed.initialize must not receive mpu.
AssertionError|deepspeed/runtime/zero/muon/original_muon.py|__init__|ns_method must be one of foo, got foo
AssertionError|deepspeed/runtime/zero/stage_1_and_2.py|_configure_moe_settings|Expert data parallel group should be configured with MoE
AssertionError|deepspeed/runtime/zero/stage_1_and_2.py|__init__|pre-scale gradients is not yet supported with foo with reduce scatter enabled
# accelerate 16cb6eb of 2026-07-24: 30 of 163
ImportError|accelerate/accelerator.py|_prepare_deepspeed|Deepspeed ALST/Ulysses requires deepspeed>=8. Please update DeepSpeed via `pip install deepspeed -U`.
ValueError|accelerate/accelerator.py|__init__|FSDP requires PyTorch >= 8
ValueError|accelerate/accelerator.py|prepare|Only one model is supported when using FSDP2
ValueError|accelerate/accelerator.py|__init__|Passing in an FP8 configuration requires setting `mixed_precision='fp8'`.
ValueError|accelerate/accelerator.py|__init__|You can only pass one of `gradient_accumulation_steps` and `gradient_accumulation_plugin`. Please only pass in the created `GradientAccumulationPlugin
AssertionError|accelerate/accelerator.py|_prepare_megatron_lm|You can't use same `Accelerator()` instance with multiple models when using Megatron-LM
ValueError|accelerate/accelerator.py|prepare|`device_placement` should be a list with 8 elements (the number of objects passed).
ImportError|accelerate/accelerator.py|_prepare_ao|`torchao` was not found on your system or is too old of a version. Please ensure that `torchao >= 0.6.1` is installed
ValueError|accelerate/accelerator.py|__init__|fp16 mixed precision requires a device in 8 (not FooConfig).
ValueError|accelerate/big_modeling.py|dispatch_model|We need an `offload_dir` to dispatch this model according to this `device_map`, the following submodules need to be offloaded: foo.
ValueError|accelerate/commands/launch.py|_validate_launch_command|You need to use at least 2 processes to use `--multi_gpu`.
ValueError|accelerate/commands/to_fsdp2.py|load_config|Config file is empty
ValueError|accelerate/data_loader.py|__init__|To use `BatchSamplerShard` in `split_batches` mode, the batch size (8) needs to be a round multiple of the number of processes (8).
AssertionError|accelerate/parallelism_config.py|_set_size|Parallelism must be one of 8
ValueError|accelerate/state.py|__init__|Tried to launch on distributed with multinode, but `MASTER_ADDR` env was not set, please try exporting rank 0's hostname as `MASTER_ADDR`
Exception|accelerate/utils/dataclasses.py|set_moe_leaf_modules|Could not find a transformer layer class called 'FooConfig' to wrap in the model.
ValueError|accelerate/utils/dataclasses.py|__post_init__|Invalid auto wrap policy: foo. Must be one of foo
ImportError|accelerate/utils/dataclasses.py|__post_init__|TransformerEngine is not available. Please install it or use a different backend.
ValueError|accelerate/utils/dataclasses.py|_deepspeed_config_checks|When using `deepspeed_config_file`, the following accelerate config variables will be ignored: foo.\nPlease specify them appropriately in the DeepSpee
ValueError|accelerate/utils/dataclasses.py|set_mixed_precision|`--mixed_precision` arg cannot be set to `foo` when `torch.float32` is set in the DeepSpeed config file.
ValueError|accelerate/utils/dataclasses.py|__post_init__|`amax_compute_algo` must be one of 8
ValueError|accelerate/utils/dataclasses.py|__post_init__|`opt_level` must be one of foo
ValueError|accelerate/utils/dataclasses.py|__post_init__|bnb_4bit_quant_type must be a string
ValueError|accelerate/utils/dataclasses.py|__post_init__|bnb_4bit_quant_type must be in ['fp4','nf4'] but found FooConfig
ValueError|accelerate/utils/dataclasses.py|__post_init__|bnb_4bit_use_double_quant must be a boolean
ValueError|accelerate/utils/dataclasses.py|__post_init__|llm_int8_threshold must be a float or an int
ValueError|accelerate/utils/dataclasses.py|__post_init__|skip_modules must be a list of strings
ConnectionError|accelerate/utils/launch.py|prepare_multi_gpu_env|Tried to launch distributed communication on port `8`, but another process is utilizing it. Please specify a different port (such as using the `--main
AssertionError|accelerate/utils/megatron_lm.py|get_module_config|When overlap_grad_reduce is True, config.no_sync_func must be None; a custom no_sync_func is not supported when overlapping grad-reduce
ValueError|accelerate/utils/modeling.py|load_state_dict|The checkpoint passed was saved with foo, we need a the pt format.
# trl f2cd577 of 2026-07-24: 30 of 130
ValueError|trl/experimental/bco/bco_trainer.py|__init__|You cannot use `precompute_ref_log_probs=True` with Deepspeed ZeRO-3. Please set `precompute_ref_log_probs=False`.
ValueError|trl/experimental/cpo/cpo_trainer.py|__init__|You passed model_kwargs to the CPOTrainer. But your model is already instantiated.
ValueError|trl/experimental/gold/gold_trainer.py|_prepare_dataset_with_original_text|When packing is enabled, `max_length` can't be `None`.
ValueError|trl/experimental/online_dpo/online_dpo_trainer.py|__init__|Number of reward weights (8) must match number of reward functions (8)
ValueError|trl/experimental/online_dpo/online_dpo_trainer.py|__init__|`processing_class` must be provided.
ValueError|trl/experimental/ppo/ppo_trainer.py|__init__|No reference model and model is not a Peft model.
AssertionError|trl/experimental/ppo/ppo_trainer.py|__init__|Per-rank minibatch size 8 is insufficient for whitening
ValueError|trl/experimental/sdft/sdft_trainer.py|__init__|`use_liger_kernel` only supports `distillation_mode='full_logits'`, got 8. The fused JSD kernel operates on the full vocabulary and cannot express the
ValueError|trl/experimental/sdft/sdft_trainer.py|__init__|`use_teacher_server=True` is incompatible with `use_liger_kernel`: the server returns top-k logprobs while the Liger fused loss needs full-vocabulary
ValueError|trl/experimental/sdft/sdft_trainer.py|__init__|`use_teacher_server=True` only supports `distillation_mode` in {'sampled_token', 'topk_logits'}, got 8. The server returns the teacher's top-k logprob
ValueError|trl/experimental/sdft/sdft_trainer.py|__init__|`use_teacher_server=True` requires `use_vllm=True` and `vllm_mode='server'`: teacher logprobs are served by the same vLLM server used for generation.
ValueError|trl/experimental/sdpo/sdpo_trainer.py|__init__|Number of reward weights must match number of reward functions
ValueError|trl/experimental/sdpo/sdpo_trainer.py|__init__|`use_liger_kernel` only supports pure self-distillation with `distillation_weight=1.0`, got 8. A convex blend with the policy loss needs the policy-gr
ImportError|trl/generation/vllm_client.py|__init__|vLLM is not installed. Please install it with `pip install trl[vllm]`.
ArgumentTypeError|trl/scripts/_hf_argparser.py|string_to_bool|Truthy value expected: got foo but expected one of yes/no, true/false, t/f, y/n, 1/0 (case insensitive).
RuntimeError|trl/scripts/_hf_argparser.py|_parse_dataclass_field|Unresolved type detected, which should have been done with the help of `typing.get_type_hints` method by default
ValueError|trl/scripts/utils.py|__init__|Dataclass FooConfig has a field named 'config'. This field is reserved for the config file path and should not be used in the dataclass.
ValueError|trl/scripts/utils.py|get_dataset|No datasets were loaded from the mixture configuration
ImportError|trl/scripts/vllm_serve.py|main|Pydantic is required to run the vLLM serve script. Please install it using `pip install pydantic`.
ValueError|trl/trainer/dpo_trainer.py|__init__|Liger DPO loss does not support the Mixture-of-Experts load-balancing auxiliary loss, because it fuses the loss without materializing the router logit
ImportError|trl/trainer/dpo_trainer.py|__init__|You set `use_liger_kernel=True` but the liger kernel is not available. Please install liger-kernel first: `pip install liger-kernel`
ValueError|trl/trainer/dpo_trainer.py|__init__|`model` and `ref_model` cannot be the same object. In most cases you should omit `ref_model` and we'll initialize it to a copy of `model` for you.
ValueError|trl/trainer/grpo_config.py|__post_init__|log_completions_hub_repo is set, but log_completions is False. Enable log_completions to upload completions to the Hub, or unset log_completions_hub_r
ValueError|trl/trainer/grpo_trainer.py|__init__|Liger kernel does not support off-policy sequence masking yet.
ImportError|trl/trainer/grpo_trainer.py|__init__|Using `use_transformers_continuous_batching` requires transformers>=5.8.0. Please upgrade with `pip install --upgrade transformers`.
ImportError|trl/trainer/grpo_trainer.py|__init__|Using tools with GRPOTrainer requires the jmespath library for response parsing. Please install it with `pip install jmespath` to use this feature.
ValueError|trl/trainer/grpo_trainer.py|__init__|`use_transformers_continuous_batching` does not support multimodal models. Use `use_vllm` instead.
ValueError|trl/trainer/rloo_trainer.py|__init__|You passed `sync_ref_model=True` while `beta=0.0`, which means the reference model is not used during training. Consequently, RLOOTrainer does not cre
ValueError|trl/trainer/sft_trainer.py|__init__|Invalid `loss_type` FooConfig passed. Supported values are 'nll', 'dft', and 'chunked_nll'.
ValueError|trl/trainer/sft_trainer.py|__init__|You passed a `compute_loss_func` together with `loss_type='dft'` to the `SFTTrainer`. When using `loss_type='dft'`, the loss function is internally se
# openrlhf 3c3be62 of 2026-08-13: 18 of 18
ValueError|openrlhf/models/loss.py|__init__|Invalid vllm_is_correction_type: 8, must be one of tis/icepop/seq-mask-tis
AssertionError|openrlhf/models/loss.py|__init__|dual_clip must be > 1.0, got foo
ValueError|openrlhf/trainer/ppo_trainer_async.py|__init__|async_queue_size must be positive, got 8
ValueError|openrlhf/trainer/ppo_utils/experience.py|_merge_item|Unsupported type: FooConfig
AssertionError|openrlhf/trainer/ray/vllm_engine.py|_load_agent_executor|Agent module must contain AgentExecutor class
AssertionError|openrlhf/trainer/ray/vllm_engine.py|_load_agent_executor|Agent path must be a Python file
AssertionError|openrlhf/trainer/ray/vllm_engine.py|_load_agent_executor|AgentExecutor must inherit from AgentExecutorBase
AssertionError|openrlhf/trainer/ray/vllm_engine.py|create_vllm_engines|vLLM > 0.10.0 is required for logprobs_mode
AssertionError|openrlhf/trainer/ray/vllm_worker_wrap.py|init_process_group|default torch process group must be initialized
AssertionError|openrlhf/trainer/ray/vllm_worker_wrap.py|init_process_group|group name must not be empty
AssertionError|openrlhf/utils/agent.py|__init__|AgentInstance must inherit from AgentInstanceBase
AssertionError|openrlhf/utils/deepspeed/deepspeed.py|_get_model_parameters|Muon optimizer requires deepspeed >= 0.18.9, got 8
AssertionError|openrlhf/utils/deepspeed/deepspeed.py|save_model|mismatch keys foo
AssertionError|openrlhf/utils/deepspeed/deepspeed.py|prepare|prepare() tuple must be (model, cfg); got len=8
ValueError|openrlhf/utils/distributed_sampler.py|__init__|Invalid rank 8, rank should be in the interval [0, 8]
RuntimeError|openrlhf/utils/distributed_sampler.py|__init__|Requires distributed package to be available
AssertionError|openrlhf/utils/seqlen_balancing.py|__init__|8 not in [1, foo]
AssertionError|openrlhf/utils/seqlen_balancing.py|_check_and_sort_partitions|the foo-th partition is empty
# megatron d98e8a6 of 2026-08-22: 30 of 730
ValueError|megatron/core/dist_checkpointing/gpt_checkpoint_interop.py|gpt_compatible_layer_maps|Hybrid layer pattern foo contains MTP layers ('/foo'), which have no source weights in a GPT checkpoint. Remove the MTP part of the pattern to load a
CheckpointingException|megatron/core/dist_checkpointing/strategies/fully_parallel.py|load|Missing object shards after fully parallel loading: foo
CheckpointingException|megatron/core/dist_checkpointing/validation.py|_verify_integrity_manifest_impl|Unsupported hash algorithm in integrity manifest: foo. Expected: foo.
ValueError|megatron/core/distributed/fsdp/mcore_fsdp_adapter.py|__init__|MFSDP v2 requires an explicit ProcessGroupCollection.
ValueError|megatron/core/distributed/fsdp/src/megatron_fsdp/experimental/fully_shard.py|__post_init__|Expected 8 foo placements, got 8.
AssertionError|megatron/core/optimizer/layer_wise_optimizer.py|__init__|LayerWiseDistributedOptimizer does not support num_distributed_optimizer_instances > 1.
AssertionError|megatron/core/parallel_state.py|initialize_model_parallel|embedding group is already initialized
RuntimeError|megatron/core/parallel_state.py|initialize_model_parallel|pipeline-model-parallel size should be greater than 1 with interleaved schedule
AssertionError|megatron/core/parallel_state.py|initialize_model_parallel|position embedding group is already initialized
AssertionError|megatron/core/parallel_state.py|initialize_model_parallel|sharp_enabled_group is only valid when use_sharp is True
AssertionError|megatron/core/pipeline_parallel/fine_grained_activation_offload.py|pop_backward_chunk|No non-empty chunk found
ValueError|megatron/core/transformer/attention.py|__init__|spec sets q_layernorm=foo but qk_layernorm/qk_l2_norm are disabled
AssertionError|megatron/core/transformer/dot_product_attention.py|__init__|DotProductAttention pg_collection must have tp process group
ValueError|megatron/core/transformer/fsdp_dtensor_checkpoint.py|replace_expert_index_in_key|Unexpected expert key format: foo
AssertionError|megatron/core/transformer/fsdp_dtensor_checkpoint.py|validate_loaded_state_dict|key: foo; foo foo
AssertionError|megatron/core/transformer/multi_token_prediction.py|__init__|MultiTokenPredictionBlock with HSM requires a dp process group
AssertionError|megatron/core/transformer/transformer_config.py|__post_init__|Batch invariant mode only supports FlashAttention (--attention-backend flash)
ValueError|megatron/core/transformer/transformer_config.py|__post_init__|Only transformer-engine>=1.11.0 supports FP8 grouped gemm, but your version is 8.
ValueError|megatron/core/transformer/transformer_config.py|__post_init__|enable_mhc_connections is not compatible with Multi-Token Prediction (MTP). Please disable MTP (set mtp_num_layers=None) when using hyper connections.
AssertionError|megatron/core/transformer/transformer_config.py|__post_init__|overlap_moe_expert_parallel_comm must be enabled when enabling ep_overlap_early_attn_memory_release
AssertionError|megatron/training/arguments.py|validate_args|--mla-down-proj-fusion requires --multi-latent-attention
AssertionError|megatron/training/arguments.py|validate_args|FSDP requires CUDA_DEVICE_MAX_CONNECTIONS > 1 or unset.
AssertionError|megatron/training/arguments.py|validate_args|For fine-grained activation offloading with TE >= 2.10.0, NVTE_CPU_OFFLOAD_V1 should be set to 1 to avoid offloading weights.
AssertionError|megatron/training/arguments.py|validate_args|Multi-Token Prediction (MTP) is not supported with 8 position embedding type.The supported position embedding types are rope and none.
AssertionError|megatron/training/arguments.py|validate_args|can only specify one of lr-warmup-fraction and lr-warmup-samples
AssertionError|megatron/training/arguments.py|validate_args|overlap_grad_reduce is only supported with TE >= 2.8.0 when enabling delay_wgrad_compute
ImportError|megatron/training/datasets/sft_dataset.py|__init__|SFTDataset currently requires datasets library to be installed
AssertionError|megatron/training/initialize.py|_initialize_distributed|Fake process group is only supported with PyTorch 2.3.0 and above.
AssertionError|megatron/training/yaml_arguments.py|validate_yaml|--overlap-param-gather only supported with distributed optimizer
AssertionError|megatron/training/yaml_arguments.py|validate_yaml|number of layers should be divisible by the pipeline parallel size
# datasets b7cb10b of 2026-07-31: 30 of 85
ValueError|datasets/arrow_dataset.py|__init__|Column '8' doesn't exist.
ValueError|datasets/arrow_dataset.py|save_to_disk|Failed to push_to_hub: please specify either max_shard_size or num_shards, but not both.
ValueError|datasets/arrow_dataset.py|__init__|Features can't be None in a Dataset object
ValueError|datasets/arrow_dataset.py|__init__|Fingerprint can't be None in a Dataset object
FileNotFoundError|datasets/arrow_dataset.py|load_from_disk|No such files: '/data/run7/x', nor '/data/run7/x' found. Expected to load a `Dataset` object but provided path is not a `Dataset`.
ValueError|datasets/arrow_dataset.py|_check_column_names|The table can't have duplicated columns but columns foo are duplicated.
PermissionError|datasets/arrow_dataset.py|save_to_disk|Tried to overwrite /data/run7/x but a dataset can't overwrite itself.
ValueError|datasets/arrow_dataset.py|__init__|indices must be an Arrow table of unsigned integers, current type is FooConfig
ValueError|datasets/arrow_dataset.py|save_to_disk|please remove all the indexes using `dataset.drop_index` before saving a dataset
ValueError|datasets/arrow_reader.py|__post_init__|It is forbidden to specify rounding if not using percent slicing.
ValueError|datasets/arrow_writer.py|__init__|You cannot specify both type and try_type
OSError|datasets/builder.py|_download_and_prepare|Cannot find data file.\nOriginal error:\nfoo
ValueError|datasets/builder.py|_create_builder_config|Cannot name a custom BuilderConfig the same as an available BuilderConfig. Change the name. Available BuilderConfigs: foo
AssertionError|datasets/builder.py|_prepare_split|Failed to retrieve results from prepare_split: result list foo still contains None - at least one worker failed to return its results
FileFormatError|datasets/builder.py|as_dataset|Loading a dataset not written in the "arrow" format is not supported.
ValueError|datasets/builder.py|builder_configs|Names in BUILDER_CONFIGS must not be duplicated. Got foo
ValueError|datasets/dataset_dict.py|_check_values_features|All datasets in `DatasetDict` should have the same features but features for 'foo' and 'foo' don't match: foo != foo
ValueError|datasets/features/features.py|generate_from_dict|Feature type 'FooConfig' not found. Available feature types: FooConfig
ValueError|datasets/features/features.py|_check_if_features_can_be_aligned|The features can't be aligned because the key foo of features foo has unexpected type - foo (expected either foo or Value("null").
ValueError|datasets/fingerprint.py|validate_fingerprint|Invalid fingerprint. Bad characters from black list '/data/run7/x' found in 'foo'. They could create issues when creating cache files.
KeyError|datasets/formatting/formatting.py|_check_valid_column_key|Column foo not in the dataset. Current columns in the dataset: foo
ValueError|datasets/iterable_dataset.py|__init__|The FooConfig-formatted FooConfig has batch_size=8 which is different from ex_iterable.batch_size=8 from its underlying iterable.
ValueError|datasets/iterable_dataset.py|__init__|The FooConfig-formatted FooConfig has underlying iterable that is a FooConfig but doesnt' implement iter_arrow(), a possible fix could be to use Rebat
ValueError|datasets/iterable_dataset.py|__init__|The FooConfig-formatted FooConfig has underlying iterable that is a FooConfig instead of a RebatchedArrowExamplesIterable.
ConnectionError|datasets/load.py|dataset_module_factory|Couldn't reach '/data/run7/x' on the Hub (FooConfig)
FileNotFoundError|datasets/load.py|load_from_disk|Directory /data/run7/x is neither a `Dataset` directory nor a `DatasetDict` directory.
ValueError|datasets/load.py|load_dataset|Empty 'data_files': '/data/run7/x'. It should be either non-empty or None (default).
DataFilesNotFoundError|datasets/load.py|infer_module_for_data_files|No (supported) data files found/data/run7/x
ValueError|datasets/load.py|__init__|`data_dir` must be relative to a dataset directory's root: /data/run7/x
ValueError|datasets/search.py|__init__|Please specify either `es_client` or `(host, port)`, but not both.
# huggingface_hub ee0a451 of 2026-08-20: 30 of 72
ValueError|huggingface_hub/_commit_api.py|_validate_path_in_repo|Invalid `path_in_repo` in CommitOperation: cannot update files under a 'foo/' folder (path: '/data/run7/x').
ValueError|huggingface_hub/_commit_api.py|__post_init__|Provided path: '/data/run7/x' is not a file on the local file system
ValueError|huggingface_hub/_commit_api.py|_prepare_commit_payload|Unknown operation to commit. Operation: foo. Upload mode: foo
ValueError|huggingface_hub/_commit_api.py|__post_init__|`src_repo_type` is required when `src_repo_id` is set.
ValueError|huggingface_hub/_commit_scheduler.py|__init__|'every' must be a positive integer, not 'foo'.
ValueError|huggingface_hub/_commit_scheduler.py|__init__|'folder_path' must be a directory, not a file: '/data/run7/x'.
RuntimeError|huggingface_hub/fastai_utils.py|_save_pretrained_fastai|Provided config should be a dict. Got: 'FooConfig'
PicklingError|huggingface_hub/fastai_utils.py|_save_pretrained_fastai|You are using a lambda function, i.e., an anonymous function. `pickle` cannot pickle function objects and requires that all functions have names. One
ImportError|huggingface_hub/fastai_utils.py|_check_fastai_fastcore_pyproject_versions|`from_pretrained_fastai` requires fastai>=8 version but the model to load uses 8 which is incompatible.
ImportError|huggingface_hub/fastai_utils.py|_check_fastai_fastcore_pyproject_versions|`from_pretrained_fastai` requires fastcore>=8 version, but you are using fastcore version 8 which is incompatible.
LocalEntryNotFoundError|huggingface_hub/file_download.py|_raise_on_head_call_error|Cannot find the requested files in the disk cache and outgoing traffic has been disabled. To enable hf.co look-ups and downloads online, set 'local_fi
FileMetadataError|huggingface_hub/file_download.py|_get_metadata_or_catch_error|Distant resource does not have a Content-Length.
ValueError|huggingface_hub/file_download.py|http_get|The file is too large to be downloaded using the regular download method.  Install `hf_xet` with `pip install hf_xet` for xet-powered downloads.
ValueError|huggingface_hub/file_download.py|xet_get|To use optimized download using Xet storage, you need to install the hf_xet package. Try `pip install "huggingface_hub[hf_xet]"` or `pip install hf_xe
RuntimeError|huggingface_hub/file_download.py|_get_metadata_or_catch_error|etag is empty due to uncovered problems
AssertionError|huggingface_hub/file_download.py|_hf_hub_download_to_cache_dir|etag must have been retrieved from server
ValueError|huggingface_hub/hf_api.py|_resolve_copy_target_path|Cannot copy an empty relative path.
IsADirectoryError|huggingface_hub/hf_api.py|download_bucket_files|Expected file but found directory at '/data/run7/x'
ValueError|huggingface_hub/hf_api.py|verify_repo_checksums|Pass either `local_dir` or `cache_dir`, not both.
ValueError|huggingface_hub/hf_api.py|_prepare_upload_folder_additions|Provided path: '/data/run7/x' is not a directory
ValueError|huggingface_hub/hf_api.py|create_webhook|Set `url` or `job_id` but not both.
ValueError|huggingface_hub/hf_api.py|repo_type_and_id_from_hf_id|Unknown `repo_type`: 'FooConfig' ('foo')
ValueError|huggingface_hub/lfs.py|_validate_lfs_action|lfs_action is improperly formatted
ValueError|huggingface_hub/utils/_datetime.py|parse_datetime|Cannot parse 'foo' as a datetime. Date string is expected to follow '%Y-%m-%dT%H:%M:%S.%fZ' pattern.
DeviceCodeError|huggingface_hub/utils/_oauth_device.py|_parse_token_response|Failed to parse response from foo/oauth/token (status 8): foo
ValueError|huggingface_hub/utils/_parsing.py|_parse_with_unit|Invalid value 'foo'. Must match pattern '/d+[a-z]+' or be a plain number.
ValueError|huggingface_hub/utils/_parsing.py|_parse_with_unit|Value cannot be empty.
HFValidationError|huggingface_hub/utils/_validators.py|validate_repo_id|Cannot have -- or .. in repo_id: 'foo'.
ValueError|huggingface_hub/utils/_verification.py|resolve_local_root|Local directory does not exist or is not a directory: foo
ValueError|huggingface_hub/utils/_verification.py|resolve_local_root|Repo is not present in cache: /data/run7/x. Use 'hf download' first or pass --local-dir.
# bitsandbytes 95f9af3 of 2026-08-19: 23 of 23
RuntimeError|bitsandbytes/autograd/_functions.py|__init__|Call get_instance() instead
ImportError|bitsandbytes/functional.py|create_normal_map|Scipy is required for `create_normal_map`. Install `bitsandbytes` with the `[test]` extra.
ValueError|bitsandbytes/optim/adagrad.py|__init__|Adagrad8bit only supports optim_bits=8 (default value for compatibility)
ValueError|bitsandbytes/optim/adagrad.py|__init__|Initial accumulator value != 0.0 not supported!
ValueError|bitsandbytes/optim/adagrad.py|__init__|Invalid epsilon value: foo
ValueError|bitsandbytes/optim/adagrad.py|__init__|Invalid learning rate: foo
ValueError|bitsandbytes/optim/adagrad.py|__init__|Invalid weight_decay value: foo
ValueError|bitsandbytes/optim/adagrad.py|__init__|Lr Decay != 0.0 not supported!
ValueError|bitsandbytes/optim/adam.py|__init__|Adam8bit does not support amsgrad=True
ValueError|bitsandbytes/optim/adam.py|__init__|Adam8bit only supports optim_bits=32 (default value for compatibility)
ValueError|bitsandbytes/optim/adam.py|__init__|PagedAdam8bit does not support amsgrad=True
ValueError|bitsandbytes/optim/adam.py|__init__|PagedAdam8bit only supports optim_bits=32 (default value for compatibility)
ValueError|bitsandbytes/optim/adamw.py|__init__|AdamW8bit does not support amsgrad=True
ValueError|bitsandbytes/optim/adamw.py|__init__|AdamW8bit only supports optim_bits=32 (default value for compatibility)
ValueError|bitsandbytes/optim/adamw.py|__init__|PagedAdamW8bit does not support amsgrad=True
ValueError|bitsandbytes/optim/adamw.py|__init__|PagedAdamW8bit only supports optim_bits=32 (default value for compatibility)
ValueError|bitsandbytes/optim/lamb.py|__init__|LAMB8bit does not support amsgrad=True
ValueError|bitsandbytes/optim/lamb.py|__init__|LAMB8bit only supports max_unorm=1.0 (default value for compatibility)
ValueError|bitsandbytes/optim/lars.py|__init__|Invalid momentum value: foo
ValueError|bitsandbytes/optim/lars.py|__init__|Nesterov momentum requires a momentum and zero dampening
ValueError|bitsandbytes/optim/optimizer.py|__init__|Invalid beta parameter at index foo: foo
ValueError|bitsandbytes/optim/optimizer.py|load_state_dict|loaded state dict contains a parameter group that doesn't match the size of optimizer's group
ValueError|bitsandbytes/optim/optimizer.py|load_state_dict|loaded state dict has a different number of parameter groups
# nemo 8cfedd7 of 2025-09-20: 30 of 503
ValueError|nemo/collections/common/parts/preprocessing/collections.py|__parse_item|Manifest file has invalid json line structure: foo without proper label key.
ValueError|nemo/collections/common/parts/preprocessing/collections.py|_parse_item|Manifest file has invalid json line structure: foo without proper seq_label key.
FileNotFoundError|nemo/collections/common/parts/preprocessing/collections.py|__parse_item_rttm|RTTM file not found: /data/run7/x
ValueError|nemo/collections/common/parts/preprocessing/manifest.py|__parse_item|Manifest file /data/run7/x has invalid json line structure: foo without proper duration key.
AssertionError|nemo/collections/common/video_tokenizers/modules/layers3d.py|__init__|Spatially downsample 8 times at most
AssertionError|nemo/collections/llm/api.py|_validate_config|Expected model.config to exist
ValueError|nemo/collections/llm/gpt/model/llama.py|create_llama4_config|Unexpected moe_layer_freq foo
ValueError|nemo/collections/llm/tools/auto_configurator/core/utils.py|init_params|Model_size for BERT must be smaller than 250B parameters.
AssertionError|nemo/collections/nlp/data/language_modeling/megatron/dataset_utils.py|get_dataset|Tokenizer is required for UL2 dataset
AssertionError|nemo/collections/nlp/models/language_modeling/megatron/gpt_model.py|__init__|hidden_size must be divisible by num_attention_heads if kv_channels is None
ValueError|nemo/collections/nlp/models/language_modeling/megatron_bert_model.py|__init__|Virtual pipeline model parallel is only supported when using megatron_amp_O2
ValueError|nemo/collections/nlp/models/language_modeling/megatron_gpt_model.py|__init__|Expert parallelism is currently not supporting Apex distributed optimizer,use Mcore distributed optimizer instead
ValueError|nemo/collections/nlp/models/language_modeling/megatron_gpt_model.py|__init__|Must use overlap_param_sync together with overlap_grad_sync
AssertionError|nemo/collections/nlp/models/language_modeling/megatron_gpt_prompt_learning_model.py|init_model|Minimum lr must be 0.0 when pipeline parallel size is > 1
ValueError|nemo/collections/nlp/models/language_modeling/megatron_gpt_sft_model.py|setup_metric|foo requires specifying whether you want to compute a micro or macro average. Found None.
ValueError|nemo/collections/nlp/models/language_modeling/megatron_lm_encoder_decoder_model.py|_build_forward_args_from_kwargs|Mismatch between length in args_name (8) and args (8)
ValueError|nemo/collections/nlp/models/language_modeling/megatron_lm_encoder_decoder_model.py|_build_forward_args_from_kwargs|args_name = foo cannot overlap kwargs = foo
ValueError|nemo/collections/nlp/models/language_modeling/megatron_t5_model.py|_validate_cfg|Not enough sentinel tokens specified. Need at least 8 sentinel tokens. Found 8
ValueError|nemo/collections/nlp/models/language_modeling/megatron_t5_sft_model.py|_build_eval_dataset|If you are providing names for each src/tgt file, they must have the same number of elements.
AssertionError|nemo/collections/nlp/parts/nlp_overrides.py|save_checkpoint|Currently only support checkpointing 1 distributed optimizer per time!
AssertionError|nemo/collections/nlp/parts/nlp_overrides.py|setup_environment|FSDP does not support pipeline parallelism
ValueError|nemo/core/classes/modelPT.py|_update_dataset_config|`dataset_name` when updating config must be one of [train, validation, test]
ValueError|nemo/core/classes/modelPT.py|setup_optimizer_param_groups|foo does not have parameters.
ValueError|nemo/core/optim/adan.py|__init__|Invalid Max grad norm: 8
ValueError|nemo/core/optim/lr_scheduler.py|prepare_lr_scheduler|Could not find batch_size from train_dataloader: 8
ValueError|nemo/lightning/fabric/strategies.py|__init__|Invalid DDP type: foo
AssertionError|nemo/lightning/io/hf.py|load_checkpoint|Expected /data/run7/x not to end with /data/run7/x
AssertionError|nemo/lightning/pytorch/strategies/megatron_strategy.py|setup_megatron_parallel|Model is not set
ValueError|nemo/utils/callbacks/dist_ckpt_io.py|_get_checkpoint_io|Async finalizer requires an async compatible CheckpointIO, got: /data/run7/x
ValueError|nemo/utils/exp_manager.py|check_resume|Multiple checkpoints /data/run7/x that matches *last.ckpt.
# llamafactory ff6d4d1 of 2026-08-18: 30 of 147
ValueError|llamafactory/data/formatter.py|__post_init__|A placeholder is required in the string formatter.
ValueError|llamafactory/data/formatter.py|__post_init__|Empty formatter should not contain any placeholder.
ValueError|llamafactory/data/loader.py|_load_single_dataset|File types should be identical.
ValueError|llamafactory/data/parser.py|get_dataset_list|Undefined dataset foo in foo.
ValueError|llamafactory/hparams/data_args.py|__post_init__|The length of eval dataset and interleave probs should be identical.
ValueError|llamafactory/hparams/finetuning_args.py|__post_init__|`reward_model_type` cannot be oft for Freeze/Full PPO training.
ValueError|llamafactory/hparams/megatron_bridge_args.py|__post_init__|`pipeline_model_parallel_size` must be >= 1.
ValueError|llamafactory/hparams/model_args.py|_get_advanced_kt_config|Put KTransformers settings in the LLaMA-Factory training YAML `kt_config`; remove `kt_config` from the Accelerate config.
ValueError|llamafactory/hparams/model_args.py|__post_init__|YAML config must be a dictionary mapping tokens to descriptions. Got: 8
ValueError|llamafactory/hparams/parser.py|get_train_args|Distributed training does not support layer-wise APOLLO.
ValueError|llamafactory/hparams/parser.py|get_train_args|Please enable `predict_with_generate` to save model predictions.
ValueError|llamafactory/hparams/parser.py|get_train_args|RM and PPO stages do not support `load_best_model_at_end`.
ValueError|llamafactory/hparams/parser.py|_parse_args|Some specified arguments are not used by the HfArgumentParser: 8
ValueError|llamafactory/hparams/parser.py|get_train_args|This device does not support `pure_bf16`.
ValueError|llamafactory/hparams/parser.py|_validate_megatron_bridge_parallel_args|Total Megatron Bridge parallel size (8) exceeds `world_size` (8).
ValueError|llamafactory/hparams/parser.py|get_train_args|Unsloth is incompatible with DeepSpeed ZeRO-3.
ValueError|llamafactory/hparams/parser.py|get_train_args|vLLM/SGLang backend is only available for API, CLI and Web.
ValueError|llamafactory/model/loader.py|load_model|Unsupported torch version detected: torch 2.9.x with Conv3D. This combination is known to cause severe performance regression. Please downgrade torch
ValueError|llamafactory/model/model_utils/checkpointing.py|_gradient_checkpointing_enable|FooConfig does not support gradient checkpointing.
ImportError|llamafactory/train/hyper_parallel/workflow.py|_prepare_hp_args|hyper_parallel is not installed. Please install it with `pip install hyper_parallel`.
ImportError|llamafactory/train/megatron_bridge/workflow.py|_check_backend_available|megatron-bridge is not installed. Please install it with `pip install --no-build-isolation megatron-bridge` or use the NeMo Framework container.
ValueError|llamafactory/train/trainer_utils.py|_create_apollo_optimizer|Per-layer APOLLO does not support gradient accumulation.
AssertionError|llamafactory/train/trainer_utils.py|create_reward_model|Please provide full url.
ValueError|llamafactory/v1/core/base_trainer.py|__init__|Context parallelism currently requires `dist_config.name: fsdp2`.
ValueError|llamafactory/v1/core/utils/checkpoint.py|resume|Checkpoint directory does not exist: /data/run7/x
ValueError|llamafactory/v1/plugins/trainer_plugins/distributed/fsdp2.py|_load_weights_from_hf_checkpoint|No checkpoint files found in /data/run7/x
ValueError|llamafactory/v1/plugins/trainer_plugins/distributed/fsdp2.py|_resolve_hf_checkpoint_dir|hf_model_path='/data/run7/x' does not exist locally and huggingface_hub is not available to download it. Please provide a local model directory or ins
ValueError|llamafactory/v1/plugins/trainer_plugins/distributed/fsdpturbo.py|initialize|ep_size must be positive, got 8.
ValueError|llamafactory/v1/plugins/trainer_plugins/distributed/interface.py|__post_init__|DeepSpeed config_file is required.
ValueError|llamafactory/v1/utils/plugin.py|parse_params|Unknown params for foo.foo: foo. Expected: foo
# torchtitan b5bcd76 of 2026-08-21: 30 of 192
ValueError|torchtitan/components/checkpointer/base.py|__post_init__|initial_load_in_hf requires initial_load_model_only.
ValueError|torchtitan/components/checkpointer/base.py|__post_init__|initial_load_path must be an absolute path or a remote URI (e.g. gs://...): /data/run7/x
ValueError|torchtitan/components/checkpointer/base.py|__post_init__|last_save_in_hf is not supported with a remote checkpoint.folder: /data/run7/x
ValueError|torchtitan/components/data/sources.py|__post_init__|first-class Hugging Face fields repeated in kwargs: foo
AssertionError|torchtitan/components/optimizer/lr_scheduler.py|__init__|Must have at least one optimizer to create LRScheduler
ImportError|torchtitan/components/quantization/float8.py|__init__|torchao is not installed. Please install it to use float8 MoE training.
ImportError|torchtitan/components/quantization/mx.py|__init__|torchao is not installed. Please install it to use MXFP8 MoE training.
ValueError|torchtitan/components/tokenizer.py|_get_token_from_config|Could not parse foo from config
ValueError|torchtitan/components/tokenizer.py|_get_token_from_config|Could not parse foo from config - expected string or dict
FileNotFoundError|torchtitan/components/tokenizer.py|_load_tokenizer_from_path|Tokenizer path '/data/run7/x' does not exist
ImportError|torchtitan/config/manager.py|_load_config|Cannot import module 'foo' or 'foo.config_registry'. For shorthands, supported modules are: 8
ValueError|torchtitan/config/manager.py|_load_config|Config function 'foo' not found in /data/run7/x. Available config functions: foo
ValueError|torchtitan/distributed/flex_shard/dist_muon.py|_matrix_batch_view_from_compute_layout|Muon parameter foo must use one BlockShard block size across mesh axes
ValueError|torchtitan/distributed/flex_shard/dist_muon.py|_resolve_storage_to_compute_transition|Muon parameter foo with matrix-batch compute requires BlockShard instead of Shard on mesh axes foo
AssertionError|torchtitan/distributed/parallel_dims.py|_validate_meshes|Mesh 'foo' has unexpected size: expected 8, got 8
ValueError|torchtitan/distributed/pipeline_parallel.py|_build_pipeline_schedule|PipelineScheduleSingle is an abstract base class. Use a concrete single-stage schedule such as GPipe or 1F1B.
ValueError|torchtitan/distributed/utils.py|init_distributed|NGPU environment variable must be set when using comm_mode=foo
ValueError|torchtitan/experiments/graph_trainer/configs.py|validate_ep_overlap_config|--compile.ep_overlap.module_fqn must be either 'layers.*' or 'layers.*.moe' for ep_overlap
ValueError|torchtitan/experiments/graph_trainer/ep_overlap_pass.py|_validate_token_count_sync_copies|ep_overlap only schedules token-count sync CPU copies in the first token-exchange closure for foo chunk foo (/data/run7/x); found outside the first cl
ValueError|torchtitan/experiments/graph_trainer/memory_policy.py|validate_memory_policy_config|--compile.full_recompute_save_ops requires --compile.memory_policy full
ValueError|torchtitan/experiments/graph_trainer/precompile_main.py|_prepare_loss_for_precompile|Model must have lm_head for ChunkedLossWrapper precompile
RuntimeError|torchtitan/experiments/torchft/trainer.py|__init__|Pipeline Parallel is enabled but foo does not support pipelining
AssertionError|torchtitan/experiments/transformers_modeling_backend/model.py|__init__|model_config is required
AssertionError|torchtitan/models/common/attention.py|__post_init__|n_heads must be > 0
ValueError|torchtitan/models/common/config_utils.py|get_attention_config|Flash backend of FlexAttention is only supported on Hopper or Blackwell
ValueError|torchtitan/models/common/token_dispatcher.py|init_buffer|MinimalAsyncEPTokenDispatcher requires an EP mesh.
ValueError|torchtitan/models/flux/model/autoencoder.py|load_ae|Autoencoder path /data/run7/x does not exist. Please download it first.
ValueError|torchtitan/protocols/state_dict_adapter.py|_validate_hf_rope_config|HF checkpoint conversion assumes foo; got FooConfig.
AssertionError|torchtitan/trainer.py|__init__|Last PP stage must have lm_head for ChunkedLossWrapper
AssertionError|torchtitan/trainer.py|__init__|Model must have lm_head for ChunkedLossWrapper
# maxtext e591f30 of 2026-08-22: 30 of 281
ValueError|maxtext/src/maxtext/checkpoint_conversion/compare_hf_ckpt.py|main|Unsupported model name: foo. Supported: foo
ValueError|maxtext/src/maxtext/checkpoint_conversion/to_huggingface.py|_get_model_mappings|Mappings not found for model: foo. Available PARAM_MAPPING keys: foo
AssertionError|maxtext/src/maxtext/checkpoint_conversion/utils/hf_utils.py|check_predicted_tokens_match|Token prediction mismatch: foo of tokens disagree (exceeds tolerance of foo)
exceptions.StopTraining|maxtext/src/maxtext/common/checkpointing.py|_handle_post_checkpoint_preemption|Job received termination signal (SIGTERM).
ValueError|maxtext/src/maxtext/configs/pyconfig.py|_prepare_for_pydantic|foo not in foo.
AssertionError|maxtext/src/maxtext/configs/pyconfig_deprecated.py|validate_keys|A positive multi-tier checkpointing backup interval minutes must be specified when using multi-tier checkpointing
ValueError|maxtext/src/maxtext/configs/pyconfig_deprecated.py|validate_attention_kernel|Invalid attention kernel was passed. Valid options
ValueError|maxtext/src/maxtext/configs/pyconfig_deprecated.py|validate_attention_type|Invalid attention type was passed. Valid options
ValueError|maxtext/src/maxtext/configs/pyconfig_deprecated.py|validate_shard_mode|Invalid shard_mode 'foo'. Choose 'auto' or 'explicit'.
ValueError|maxtext/src/maxtext/configs/pyconfig_deprecated.py|_update_from_env_and_command_line|Key foo was passed at the command line but isn't in config.
ValueError|maxtext/src/maxtext/configs/pyconfig_deprecated.py|validate_no_keys_overwritten_twice|Keys 8 are overwritten from both the model and the environment/command line. This isn't allowed.
AssertionError|maxtext/src/maxtext/configs/pyconfig_deprecated.py|validate_data_input|Please specify grain_eval_files or set eval_interval to <=0.
ValueError|maxtext/src/maxtext/configs/types.py|validate_num_moe_emb_chunks|num_moe_emb_chunks > 0 requires use_gmm_v2=True and use_ring_of_experts=True. Got use_gmm_v2=foo, use_ring_of_experts=foo.
ValueError|maxtext/src/maxtext/integration/vllm/validate_converter.py|validate_converter|validate_converter.py does not support model 'foo'. Supported models: foo
ValueError|maxtext/src/maxtext/kernels/megablox/pallas_mosaic_tpu_v2_tgmm_kernel.py|validate_tgmm_inputs|group_sizes.size (8) must be >= group_offset (foo) + num_actual_groups (8)
AssertionError|maxtext/src/maxtext/layers/attention_mla.py|_init_projections|MLA requires MLA attention type FooConfig
AssertionError|maxtext/src/maxtext/layers/attention_op.py|check_attention_inputs|k, v lengths must match.
ValueError|maxtext/src/maxtext/layers/attentions.py|_validate_kv_heads|Invalid num_kv_heads for GQA.
ValueError|maxtext/src/maxtext/layers/engram.py|__init__|The `pad_id` must be provided and cannot be None.
ValueError|maxtext/src/maxtext/trainers/post_train/distillation/lti_utils.py|prepare_student_weights|Teacher weight injection: No paths matched the source pattern: foo
ValueError|maxtext/src/maxtext/trainers/post_train/rl/train_rl.py|create_rl_components|tunix.rl.agentic dependencies are not installed! Please install tunix with agentic support to use 'use_agentic_rollout'.
ValueError|maxtext/src/maxtext/trainers/post_train/rl/utils_rl.py|load_custom_callable|Cannot import /data/run7/x: file does not exist
ValueError|maxtext/src/maxtext/utils/generate_param_only_checkpoint.py|unroll_layer_group|Missing foo in training_state or training_state_annotations.
ValueError|maxtext/src/maxtext/utils/max_utils.py|parse_libtpu_flags_to_dict|Duplicate flag detected: '--foo'
AssertionError|maxtext/src/maxtext/utils/max_utils.py|fill_unspecified_mesh_axes|Number of FooConfig foo does not match the product of the FooConfig parallelism foo
ValueError|maxtext/src/maxtext/utils/model_creation_utils.py|_align_checkpoint_to_model_shapes|Checkpoint and model arrays have different ranks: torch.Size([4, 8]) vs torch.Size([4, 8]). If the checkpoint was saved with scan_layers=True (stacked
ValueError|maxtext/src/maxtext/utils/model_creation_utils.py|from_pretrained|No valid Orbax checkpoint found at '/data/run7/x'. Please check your load_parameters_path.
ValueError|maxtext/src/maxtext/utils/qk_clip_utils.py|_check_attention_type|QK-Clip is only supported for MLA attention (attention_type='mla'). Current configuration: 8
ValueError|maxtext/src/maxtext/utils/rampup_batch.py|_verify_inputs|per_device_batch_size must be greater than per_device_batch_size_start. get batch size is 8 and batch size start is 8.
ValueError|maxtext/src/maxtext/utils/sharding.py|remove_mesh_axes_from_partition_spec|Unsupported axis type: FooConfig
# transformer_engine d0067d0 of 2026-08-22: 30 of 110
AssertionError|transformer_engine/common/__init__.py|load_framework_extension|Could not find `transformer_engine`.
AssertionError|transformer_engine/common/recipe/__init__.py|__post_init__|NVTE_NVFP4_4OVER6_ERR_MODE must be one of: 'MAE', 'MSE'.
AssertionError|transformer_engine/common/recipe/__init__.py|__post_init__|Only 1D or 2D blocks supported for x
AssertionError|transformer_engine/common/recipe/__init__.py|__post_init__|Only E4M3 is supported for NVFP4 scaling
AssertionError|transformer_engine/common/recipe/__init__.py|__post_init__|Split accumulator required for dgrad.
AssertionError|transformer_engine/pytorch/attention/dot_product_attention/backends.py|__init__|FlashAttention versions before 8 are supported.
AssertionError|transformer_engine/pytorch/attention/dot_product_attention/utils.py|check_set_window_size|window_size should be (-1, 0) or (>=0, 0) for attn_mask_type=8
ValueError|transformer_engine/pytorch/cpp_extensions/gemm.py|validate_gemm_scale|scale must be zero
RuntimeError|transformer_engine/pytorch/cpu_offload.py|synchronization_function|Synchronization function was called without offloading context being entered.
ValueError|transformer_engine/pytorch/custom_recipes/reference_nvfp4.py|__init__|Unsupported NVFP4 4over6 error mode: oops.
ValueError|transformer_engine/pytorch/custom_recipes/reference_nvfp4.py|__init__|nvfp4_e4m3_max must be 448 or 256.
RuntimeError|transformer_engine/pytorch/distributed.py|prepare_te_modules_for_fsdp|Root module (FooConfig) does not have a valid _FSDPState. Ensure the module is properly wrapped with FSDP.
RuntimeError|transformer_engine/pytorch/distributed.py|checkpoint|torch.distributed is not initialized. Call torch.distributed.init_process_group() before using distribute_saved_activations=True.
AssertionError|transformer_engine/pytorch/module/_common.py|__init__|ub_bulk_wgrad is not supported when enabling delay_wgrad_compute
RuntimeError|transformer_engine/pytorch/module/base.py|initialize_ub|CUDA device, driver and/or toolkit version does not support comm+GEMM overlap with CUDA Multicast. Launch app with UB_SKIPMC=1 to try CUDA IPC instead
RuntimeError|transformer_engine/pytorch/module/grouped_linear.py|_prepare_weights_for_grouped_tensor_gemm|Single grouped weight has no rowwise storage.
RuntimeError|transformer_engine/pytorch/newton_schulz.py|__init__|The current process is not a member of the supplied process group
RuntimeError|transformer_engine/pytorch/newton_schulz.py|__init__|torch.distributed must be initialized before creating CusolverMpCtx
RuntimeError|transformer_engine/pytorch/ops/_common.py|get_main_grad_from_param|foooperation is configured with accumulate_into_main_grad=True, but weight parameter does not have a valid main_grad attribute
ValueError|transformer_engine/pytorch/ops/fused/grouped_mlp.py|validate_grouped_mlp_dims|FC1 (num_groups=8, in_features=8, out_features=foo) and FC2 (num_groups=8, in_features=8, out_features=foo) do not match.
ValueError|transformer_engine/pytorch/ops/op.py|__init__|Attempted to construct a fused operation without specifying its corresponding basic operations
AssertionError|transformer_engine/pytorch/ops/op.py|_load_fp8_metas|Found an unexpected key (mode=foo, fp8_meta_key=foo) in saved FP8 metadata
ValueError|transformer_engine/pytorch/ops/sequential.py|_resolve_op_kwargs|op_kwargs contains keys that are not in this Sequential
RuntimeError|transformer_engine/pytorch/optimizers/fused_adam.py|__init__|FusedAdam only supports fp32/fp16/bf16/fp8 exp_avg_sq.
ValueError|transformer_engine/pytorch/optimizers/fused_sgd.py|__init__|Invalid weight_decay value: foo
ValueError|transformer_engine/pytorch/optimizers/fused_sgd.py|__init__|Nesterov momentum requires a momentum and zero dampening
RuntimeError|transformer_engine/pytorch/quantization.py|check_recipe_support|DelayedScaling is not supported under torch.compile. Please use other recipes instead.
ValueError|transformer_engine/pytorch/quantization.py|create|FooConfig is not supported
ValueError|transformer_engine/pytorch/tensor/utils.py|_validate_flat_fragment|start_offset must not be None when master_weight is provided
ValueError|transformer_engine/pytorch/transformer.py|__init__|parallel_attention requires layer_type='encoder', but got layer_type=FooConfig
# transformers 5.24.0: 30 of 180
OSError|transformers/configuration_utils.py|_get_config_dict|Can't load the configuration of '/data/run7/x'. If you were trying to load it from 'https://huggingface.co/models', make sure you don't have a local d
ValueError|transformers/configuration_utils.py|validate_layer_type|The `FooConfig` entries must be in FooConfig but got foo
ValueError|transformers/core_model_loading.py|__init__|Source pattern 'foo' contains /1 backreference, but no capturing groups found in target_patterns.
ValueError|transformers/core_model_loading.py|__init__|You must provide only one of `prefix_to_add` and `prefix_to_remove`
ValueError|transformers/data/data_collator.py|__post_init__|The sum of mask_replace_prob and random_replace_prob should not exceed 1
ValueError|transformers/data/data_collator.py|__post_init__|random_replace_prob should be between 0 and 1.
OSError|transformers/distributed/checkpoint.py|_get_resolved_distributed_checkpoint_files|Loading a distributed checkpoint requires torch>=2.8.
ValueError|transformers/distributed/configuration_utils.py|_resolve_parallelism|Parallelism sizes must be >= 1, got foo.
ValueError|transformers/distributed/configuration_utils.py|_validate_mesh_config|`ep_plan` must be a dictionary or None.
ValueError|transformers/distributed/configuration_utils.py|_validate_mesh_config|`fsdp_plan` must be a dictionary or None.
ValueError|transformers/distributed/expert_parallel.py|__init__|FooConfig needs every rank of the expert group to hold the same batch (`ep_size == tp_size`).
ValueError|transformers/integrations/accelerate.py|check_and_set_device_map|You can't pass device_map as a negative int. If you want to put the model on the cpu, pass device_map = 'cpu'
ValueError|transformers/modeling_utils.py|_set_gradient_checkpointing|FooConfig is not compatible with gradient checkpointing. Make sure all the architecture support it by setting a boolean attribute `gradient_checkpoint
RuntimeError|transformers/modeling_utils.py|save_pretrained|We could not revert some weight conversions because of offlading, and several weights needed for a single conversion operation living in different sha
ValueError|transformers/tokenization_utils_base.py|_save_pretrained|Only fast tokenizers (instances of PreTrainedTokenizerFast) can be saved in non legacy format.
ValueError|transformers/tokenization_utils_base.py|__init__|Padding side should be selected between 'right' and 'left', current value: foo
OSError|transformers/tokenization_utils_base.py|_from_pretrained|Unable to load vocabulary from file. Please check that the provided vocabulary is accessible and not corrupted.
ValueError|transformers/trainer.py|_run_epoch|Calculated loss must be on the original device: foo but device in use is 8
ValueError|transformers/trainer.py|_validate_args|The train_dataset does not implement __len__, so the number of training steps cannot be inferred; max_steps has to be specified. The total number of s
ValueError|transformers/trainer.py|_validate_args|When using `batch_eval_metrics`, your `compute_metrics` function must take a `compute_result` boolean argument which will be triggered after the last
ValueError|transformers/trainer.py|__init__|`Trainer` requires either a `model` or `model_init` argument, but not both.
ValueError|transformers/trainer.py|_validate_args|`args.metric_for_best_model` must be provided when using 'best' save_strategy or if `args.load_best_model_at_end` is set to `True`.
ValueError|transformers/training_args.py|_validate_args|--eval_steps must be an integer if bigger than 1: 8
ValueError|transformers/training_args.py|_validate_args|--load_best_model_at_end requires the save and eval strategy to match, except when --save_strategy="best", but found\n- Evaluation strategy: foo\n- Sa
ValueError|transformers/training_args.py|_validate_args|--load_best_model_at_end requires the saving steps to be a multiple of the evaluation steps, but found 8, which is not a multiple of 8.
ValueError|transformers/training_args.py|_validate_args|--save_steps must be an integer if bigger than 1: 8
ValueError|transformers/training_args.py|__post_init__|evaluation strategy foo requires either non-zero --eval_steps or --logging_steps
ValueError|transformers/utils/quantization_config.py|post_init|enable_proxy_error should always be False until we support training
ValueError|transformers/utils/quantization_config.py|post_init|is_indice_packed should always be True
ValueError|transformers/utils/quantization_config.py|post_init|scale_fmt must be 'float' or 'ue8m0'; got foo
# lightning 2.6.6: 30 of 222
ValueError|lightning/fabric/accelerators/cpu.py|setup_device|Device should be CPU, got foo instead.
ValueError|lightning/fabric/connector.py|_check_device_config_and_set_final_flags|`num_nodes` must be a positive integer, but got 8.
ValueError|lightning/fabric/connector.py|_check_config_and_set_final_flags|checkpoint_io set through both strategy class and plugins, choose one
ValueError|lightning/fabric/fabric.py|_validate_setup_optimizers|An optimizer should be passed only once to the `setup_optimizers` method.
ValueError|lightning/fabric/fabric.py|_validate_setup|An optimizer should be passed only once to the `setup` method.
RuntimeError|lightning/fabric/fabric.py|_validate_setup|The optimizer has references to the model's meta-device parameters. Materializing them is is currently not supported unless you to set up the model an
RuntimeError|lightning/fabric/plugins/collectives/torch_collective.py|__init__|Torch distributed is not available.
ImportError|lightning/fabric/strategies/deepspeed.py|__init__|To use the `DeepSpeedStrategy`, you must have DeepSpeed installed. Install it by running `pip install -U deepspeed`.
ValueError|lightning/fabric/strategies/fsdp.py|load_checkpoint|Could not find a FSDP model in the provided checkpoint state. Please provide the model as part of the state like so: `load_checkpoint(..., state={'mod
ValueError|lightning/fabric/strategies/fsdp.py|save_checkpoint|Unknown state_dict_type: FooConfig
ValueError|lightning/fabric/strategies/model_parallel.py|_load_checkpoint|Found multiple distributed models in the given state. Loading distributed checkpoints is currently limited to a single model per checkpoint. To load m
RuntimeError|lightning/fabric/utilities/spike.py|__init__|SpikeDetection requires `torchmetrics>=1.0.0` Please upgrade your version.
MisconfigurationException|lightning/pytorch/callbacks/batch_size_finder.py|setup|The Batch size finder is not supported with distributed strategies.
AssertionError|lightning/pytorch/callbacks/batch_size_finder.py|__init__|`margin` should be between 0 and 1. Found margin=foo
MisconfigurationException|lightning/pytorch/callbacks/pruning.py|__init__|The provided `parameter_names` name: foo isn't in foo
MisconfigurationException|lightning/pytorch/callbacks/pruning.py|__init__|`pruning_fn` is expected to be a str in foo or a PyTorch `BasePruningMethod`. Found: foo. HINT: if passing a `BasePruningMethod`, pass the class, not
MisconfigurationException|lightning/pytorch/core/optimizer.py|_validate_optimizers_attached|Some schedulers are attached with an optimizer that wasn't returned from `configure_optimizers`.
RuntimeError|lightning/pytorch/core/optimizer.py|_validate_multiple_optimizers_support|Training with multiple optimizers is only supported with manual optimization. Set `self.automatic_optimization = False`, then access your optimizers i
ValueError|lightning/pytorch/core/saving.py|_load_from_checkpoint|.csv, .yml or .yaml is required for `hparams_file`
RuntimeError|lightning/pytorch/core/saving.py|save_hparams_to_tags_csv|Missing folder: /data/run7/x.
ValueError|lightning/pytorch/core/saving.py|_load_state|You set `.load_from_checkpoint(..., strict=foo)` which is in conflict with `foo.strict_loading=foo. Please set the same value for both of them.
ValueError|lightning/pytorch/loops/utilities.py|check_finite_loss|The loss returned in `training_step` is foo.
RuntimeError|lightning/pytorch/loops/utilities.py|_verify_dataloader_idx_requirement|You provided multiple `foo_dataloader`, but no `dataloader_idx` argument in `FooConfig.foo()`. Try adding `dataloader_idx=0` to its signature.
MisconfigurationException|lightning/pytorch/trainer/connectors/accelerator_connector.py|_check_config_and_set_final_flags|CPU parallel_devices set through FooConfig class, but accelerator set to foo, please choose one device type
ValueError|lightning/pytorch/trainer/connectors/accelerator_connector.py|_check_strategy_and_fallback|You selected `Trainer(strategy='foo')` but process forking is not supported on this platform. We recommend `Trainer(strategy='ddp_spawn')` instead.
KeyError|lightning/pytorch/trainer/connectors/checkpoint_connector.py|restore_optimizers_and_schedulers|Trying to restore optimizer state but checkpoint contains only the model. This is probably due to `ModelCheckpoint.save_weights_only` being set to `Tr
ValueError|lightning/pytorch/trainer/connectors/checkpoint_connector.py|_parse_ckpt_path|You cannot execute `.foo(ckpt_path="best")` with `fast_dev_run=True`. Please pass an exact checkpoint path to `.foo(ckpt_path=...)`
ValueError|lightning/pytorch/trainer/connectors/checkpoint_connector.py|_parse_ckpt_path|`.foo(ckpt_path="best")` is set but `ModelCheckpoint` is not configured.
ValueError|lightning/pytorch/trainer/trainer.py|__init__|`Trainer(barebones=True, detect_anomaly=foo)` was passed. Anomaly detection can impact raw speed so it is disabled in barebones mode.
ValueError|lightning/pytorch/trainer/trainer.py|__init__|`Trainer(barebones=True, num_sanity_val_steps=8)` was passed. Sanity checking can impact raw speed so it is disabled in barebones mode.
# verl 0.9.1: 30 of 371
AssertionError|verl/checkpoint_engine/hccl_checkpoint_engine.py|init_process_group|rank 8 is not equal to self.rank 8
AssertionError|verl/checkpoint_engine/kimi_checkpoint_engine.py|receive_tensor|p2p store is not initialized
AssertionError|verl/checkpoint_engine/nixl_checkpoint_engine.py|init_process_group|rank 8 should have prev_agent_metadata and not next_agent_metadata
AssertionError|verl/checkpoint_engine/nixl_checkpoint_engine.py|init_process_group|rank 8 should not have prev_agent_metadata or next_agent_metadata
ValueError|verl/experimental/agent_loop/tool_parser.py|get_tool_parser|Unknown tool parser: foo
AssertionError|verl/model_merger/fsdp_model_merger.py|_validate_state_dict|Missing keys in collected state dict: foo
ValueError|verl/models/mcore/mtp_patch.py|_get_mtp_loss_config|MTP loss normalization factor must be positive, got foo
RuntimeError|verl/third_party/torch/distributed/checkpoint/state_dict.py|_verify_state_dict|foo contains foo. This can happen if the model is not the root module.
AssertionError|verl/trainer/ppo/ray_trainer.py|_create_dataloader|Train dataloader is empty!
ValueError|verl/trainer/ppo/rollout_corr_helper.py|_parse_rollout_is_threshold|Invalid rollout_is_threshold 'foo'.
ValueError|verl/trainer/ppo/v1/trainer_base.py|_resolve_filter_groups_metric|algorithm.filter_groups.metric must be set when group filtering is enabled
AssertionError|verl/utils/activation_offload.py|enable_activation_offloading|activation offloading only supports fsdp strategy
ValueError|verl/utils/checkpoint/checkpoint_handler.py|__init__|Unknown self.mode=foo
AssertionError|verl/utils/config.py|validate_config|n_gpus (8) must be divisible by model_parallel_size (8) times context_parallel_size (8)
AssertionError|verl/utils/fs.py|copy_local_path_from_hdfs|Make sure the last char in src is not / because it will cause error. Got foo
ValueError|verl/utils/megatron_utils.py|broadcast_str_from_megatron_pp|An object exists on two pp ranks
AssertionError|verl/utils/megatron_utils.py|get_model|Interleaved schedule not supported for model with both encoder and decoder
ValueError|verl/utils/tokenizer/continuous_token.py|__init__|Expected DeepSeek foo to tokenize to at least one token
ValueError|verl/workers/config/actor.py|validate|ppo_micro_batch_size (8) * ulysses_sequence_parallel_size (8) must be >= n_gpus (8)
ValueError|verl/workers/config/critic.py|validate|critic.ppo_micro_batch_size (8) * ulysses_sequence_parallel_size (8) must be >= n_gpus (8)
ValueError|verl/workers/config/engine.py|__post_init__|activation_offload_host_cache_limit_gb must be a finite non-negative value, got 8.
AssertionError|verl/workers/config/engine.py|__post_init__|spmd_backend foo not supported
AssertionError|verl/workers/config/model.py|__post_init__|Expect only one architecture, got 8
ValueError|verl/workers/engine/megatron/transformer_impl.py|__init__|QAT requires non-vanilla Megatron bridge. Please set 'use_mbridge=True' and 'vanilla_mbridge=False'.
AssertionError|verl/workers/engine/megatron/transformer_impl.py|_init_device_mesh|dynamic_context_parallel is not supported in your megatron version, please update your megatron version to the latest version
AssertionError|verl/workers/engine/megatron/transformer_impl.py|__init__|use_mbridge must be True
AssertionError|verl/workers/engine_workers.py|load_checkpoint|load_checkpoint only support actor role
AssertionError|verl/workers/rollout/replica.py|__init__|world_size 8 must be divisible by gpus_per_node 8
RuntimeError|verl/workers/rollout/sglang_rollout/http_server_engine.py|launch_server_process|Server process terminated unexpectedly during startup
AssertionError|verl/workers/rollout/vllm_rollout/vllm_pd_replica.py|launch_servers|worker count 8 != PD world size 8
# ray 2.60.0: 30 of 384
ValueError|ray/_private/parameter.py|_check_usage|ray_client_server_port must be an integer between 1024 and 65535.
ValueError|ray/_private/resource_isolation_config.py|_validate_and_get_system_reserved_cpu|The requested system_reserved_cpu=foo is greater than or equal to the number of cpus available=foo. Pick a smaller number of cpu cores to reserve for
ValueError|ray/_private/resource_isolation_config.py|_validate_and_get_system_reserved_cpu|The requested system_reserved_cpu=foo is less than the minimum number of cpus that can be used for resource isolation. Pick a number of cpu cores to r
RuntimeError|ray/_private/runtime_env/dependency_utils.py|check_ray|Changing the ray version is not allowed:\n  current version: 8,   expect version: 8,   current path: /data/run7/x,   expect path: /data/run7/x, Please
ValueError|ray/_private/runtime_env/validation.py|parse_and_validate_pip|runtime_env['pip'] can only have these fields: packages, pip_check, pip_install_options and pip_version, but got: foo
ValueError|ray/_private/runtime_env/validation.py|parse_and_validate_uv|runtime_env['uv']['packages'] must be of type list, got: FooConfig
ValueError|ray/_private/services.py|determine_plasma_store_config|Attempting to cap object store memory usage at 8 bytes, but the minimum allowed is 8 bytes.
ValueError|ray/air/config.py|__post_init__|checkpoint_frequency must be >=0, got /data/run7/x
ValueError|ray/air/config.py|__post_init__|fail_fast must be one of {bool, 'raise'}. Got foo.
ValueError|ray/data/_internal/datasource/kafka_datasource.py|__init__|bootstrap_servers cannot be empty list
ValueError|ray/data/_internal/datasource/kafka_datasource.py|_validate_offsets|end_offset[foo] must be a dict mapping partition_id (int) to offset (int or str).
ValueError|ray/data/_internal/datasource/turbopuffer_datasink.py|__init__|namespace_column 'foo' must not be the same as id_column ('foo') or vector_column ('foo').
ValueError|ray/data/_internal/datasource_v2/interfaces/file_manifest.py|create_chunk_metadata|Missing required keys: foo
AssertionError|ray/data/_internal/execution/interfaces/ref_bundle.py|__post_init__|Slice range [foo, foo) exceeds block num_rows: 8
ValueError|ray/data/_internal/execution/interfaces/ref_bundle.py|__post_init__|The size in bytes of the block must be known: 8
ShuffleFileServerAnomalyError|ray/data/_internal/execution/operators/shuffle_operators/disk_shuffle_runtime.py|_resolve|ShuffleFileServer on node foo is dead: oops
ValueError|ray/data/dataset.py|_check_fn_params_incompatible|when 'FooConfig' is used, 'fn_args/fn_kwargs' or 'fn_constructor_args/fn_constructor_kwargs' cannot be used.
ValueError|ray/train/torch/config.py|on_start|The provided init_method (foo) is not supported. Must be either 'env' or 'tcp'.
RuntimeError|ray/train/trainer.py|_run_with_error_handling|This Trainer is not active. It is either shutdown already or never started in the first place. Either create a new Trainer or start this one.
RuntimeError|ray/train/v2/_internal/execution/worker_group/thread_runner.py|run|Thread is already running.
ValueError|ray/train/v2/api/config.py|__post_init__|Invalid log_level: foo. Must be one of: foo.
ValueError|ray/tune/execution/tune_controller.py|_validate_result_metrics|Trial returned a result which did not include the specified metric(s) `8` that `8` expects. Make sure your calls to `tune.report()` include the metric
ValueError|ray/tune/experiment/experiment.py|__init__|'checkpoint_frequency' cannot be set for a function trainable. You will need to report a checkpoint every `checkpoint_frequency` iterations within you
TuneError|ray/tune/impl/tuner_internal.py|__init__|You need to provide a trainable to tune.
RuntimeError|ray/util/collective/collective.py|create_collective_group|Ranks must be a permutation from 0 to '8'. Got '8'.
RuntimeError|ray/util/collective/collective.py|create_collective_group|World size must be greater than zero. Got '8'.
ValueError|ray/util/collective/collective.py|_check_rank_valid|rank '8' must be less than world size '8'
ValueError|ray/util/placement_group.py|validate_placement_group|Invalid bundle label selector foo. The length of `bundle_label_selector` should equal the length of `bundles`.
ValueError|ray/util/placement_group.py|_validate_topology_strategy|Invalid topology strategy foo for label foo. Supported strategies are: foo.
ValueError|ray/util/placement_group.py|_validate_bundle_label_selector|Placement group bundle_label_selector must be a list, got FooConfig.
# sglang 0.5.23: 30 of 760
RuntimeError|sglang/srt/distributed/device_communicators/mooncake_transfer_engine.py|parse_ib_device_config|File foo does not exist.
TimeoutError|sglang/srt/entrypoints/http_server_engine.py|launch_server_process|Server failed to start within the timeout period.
AssertionError|sglang/srt/layers/attention/attention_registry.py|create_flashattention_v3_backend|FlashAttention v3 Backend requires SM>=80 and SM<=90. Please use `--attention-backend flashinfer`.
ValueError|sglang/srt/layers/attention/attention_registry.py|create_trtllm_mla_backend|trtllm_mla backend can only be used with MLA models.
ValueError|sglang/srt/managers/tokenizer_manager.py|_validate_cuda_vmm_feature_transport_support|--mm-feature-transport=cuda_vmm is not supported by model class FooConfig
ValueError|sglang/srt/mem_cache/hybrid_cache/host_pool_config.py|prepare_host_pool_config|device layer foo outside [0, foo)
ValueError|sglang/srt/mem_cache/hybrid_cache/linker_pool_assembler.py|_build_mamba_device_pool_group|The direct external linker supports FULL + MAMBA models only with a plain MLA pool, without DCP or packed draft KV.
ValueError|sglang/srt/mem_cache/kv_cache_builder.py|validate_decode_radix_cache|--disaggregation-decode-enable-radix-cache does not support SWA-compress models (e.g. Gemma4 / MiMo-V2) yet.
AssertionError|sglang/srt/mem_cache/layout/fused_draft.py|validate|lane_num must be positive; got 8
RuntimeError|sglang/srt/mem_cache/memory_pool.py|_create_buffers|MXFP8 KV cache requires torch.float8_e8m0fnu support.
AssertionError|sglang/srt/mem_cache/pool_host/base.py|__init__|HiCache host pool page_size (8) must be a multiple of dcp_size (8); expected the widened page from the DCP paged allocator.
ValueError|sglang/srt/mem_cache/pool_host/group.py|__init__|HostPoolGroup requires at least one pool entry.
ValueError|sglang/srt/mem_cache/pool_host/qsa.py|__init__|QSA HiCache requires at least one local indexer layer
ValueError|sglang/srt/mem_cache/sparsity/factory.py|_parse_sparse_config|swap_in_block_size (8) must be in the range [1, 1024]
RuntimeError|sglang/srt/mem_cache/storage/eic/eic_storage.py|__init__|EIC Client Init Failed.
ImportError|sglang/srt/mem_cache/storage/hf3fs/hf3fs_usrbio_client.py|__init__|hf3fs_fuse.io is not available. Please install the hf3fs_fuse package.
RuntimeError|sglang/srt/mem_cache/storage/hf3fs/storage_hf3fs.py|from_env_config|Failed to load config from /data/run7/x: foo
ValueError|sglang/srt/mem_cache/storage/mooncake_store/mooncake_store.py|load_from_extra_config|Either master_server_address or client_server_address is required in extra_config
ValueError|sglang/srt/mem_cache/storage/nixl/nixl_cleaner.py|__init__|L3 cleaner low_watermark must be lower than high_watermark (low_watermark=foo, high_watermark=foo)
ValueError|sglang/srt/mem_cache/storage/tensorcast_store/host_allocator.py|build_tensorcast_session_options|world_rank and world_size must be provided together
RuntimeError|sglang/srt/mem_cache/storage/umbp/umbp_direct_linker.py|_run_layer_wise_batch|UMBP get failed for pool=foo, foo: success=foo/8.
RuntimeError|sglang/srt/model_executor/model_runner_components/load_model_utils.py|load_kv_cache_scales|Using FP8 KV cache and scaling factors provided but model %s does not support loading scaling factors.
RuntimeError|sglang/srt/model_executor/model_runner_components/startup_weight_load.py|start_prefetch|Cannot prefetch startup weights from state foo
ValueError|sglang/srt/model_loader/expert_pack/format.py|parse_sha256|foo must decode to 32 bytes
ValueError|sglang/srt/model_loader/expert_pack/validate.py|validate|object foo exceeds its stride
ValueError|sglang/srt/model_loader/expert_pack_loader.py|__init__|expert_pack load format requires pack_path or SGLANG_EXPERT_PACK_PATH
ValueError|sglang/srt/model_loader/expert_pack_runtime.py|prepare_raw_expert_pack_server_args|raw GGUF auto-preparation currently supports DeepSeek-V4 and Kimi-K3; could not identify foo: oops
RuntimeError|sglang/srt/model_loader/expert_pack_runtime.py|_prepare_deepseek_model_metadata|the gguf Python package is required to prepare DeepSeek metadata
ValueError|sglang/srt/model_loader/loader.py|__init__|Model loader extra config is not supported for load format foo
AssertionError|sglang/srt/model_loader/weight_utils.py|check_tp_ranks|Loaded dictionary has TP size 8 but LLM engine is currently running with TP size 8.
# torch 2.11.0: 30 of 397
BypassFxGraphCache|torch/_inductor/codecache.py|_check_can_cache|Unsupported _fuse_ddp_communication_pass
AssertionError|torch/distributed/checkpoint/_experimental/checkpoint_process.py|_create_subprocess|Parent end of pipe should be initialized
AssertionError|torch/distributed/checkpoint/_fsspec_filesystem.py|create_stream|fs should not be None
RuntimeError|torch/distributed/checkpoint/state_dict.py|_get_model_state_dict|An unexpected key, foo, exists. FQN is foo
AssertionError|torch/distributed/distributed_c10d.py|init_process_group|Cannot specify both init_method and store.
NotADirectoryError|torch/distributed/elastic/multiprocessing/api.py|__init__|log_dir: /data/run7/x is a file
ValueError|torch/distributed/elastic/rendezvous/c10d_rendezvous_backend.py|_create_tcp_store|The read timeout must be a positive integer.
AssertionError|torch/distributed/elastic/rendezvous/etcd_rendezvous.py|join_phase|Logic error: failed to observe version mismatch
EtcdRendezvousRetryImmediately|torch/distributed/elastic/rendezvous/etcd_rendezvous.py|join_rendezvous|Rendezvous version changed. Must try join the new one.
ValueError|torch/distributed/elastic/utils/distributed.py|create_c10d_store|server_port must be specified when world_size > 1, got server_port=8, world_size=8
ValueError|torch/distributed/fsdp/_flat_param.py|__init__|Cannot construct a FooConfig with an empty parameter list
AssertionError|torch/distributed/fsdp/_flat_param.py|_init_metadata|Expected param_infos length 8 to match strides length 8
ValueError|torch/distributed/optim/named_optimizer.py|load_state_dict|Expects state foo for parameter foo but not found.
ValueError|torch/distributed/optim/zero_redundancy_optimizer.py|_verify_and_init_params|Each parameter group passed-in via `params` must have a 'params' key mapping to the parameters in the group
AssertionError|torch/distributed/run.py|config_from_args|ranks set cannot be empty
ValueError|torch/optim/lr_scheduler.py|__init__|FooConfig expects at least one scheduler, but got no scheduler.
ValueError|torch/optim/lr_scheduler.py|__init__|mode is invalid and scale_fn is None
ValueError|torch/optim/lr_scheduler.py|__init__|optimizer must support momentum or beta1 with `cycle_momentum` option enabled
RuntimeError|torch/serialization.py|load|mmap can only be used with files saved with `torch.save(foo_use_new_zipfile_serialization=True), please torch.save your checkpoint with this option in
RuntimeError|torch/utils/checkpoint.py|_checkpoint_without_reentrant_generator|PyTorch's device state was initialized in the forward pass of a Checkpoint, which is not allowed. Please open an issue if you need this feature.
AssertionError|torch/utils/checkpoint.py|unpack_error_cb|capture_logs_recompute.logs is None
RuntimeError|torch/utils/cpp_extension.py|verify_ninja_availability|Ninja is required to load C++ extensions (pip install ninja to get it)
ValueError|torch/utils/cpp_extension.py|_check_cuda_version|setuptools>=49.4.0 is required
AssertionError|torch/utils/cpp_extension.py|_import_module_from_library|spec.loader is not a valid importlib Loader
AssertionError|torch/utils/data/dataloader.py|_sharding_worker_init_fn|Worker info is None in sharding worker init function
AssertionError|torch/utils/data/dataloader.py|__init__|_SingleProcessDataLoaderIter requires num_workers == 0
ValueError|torch/utils/data/dataloader.py|__init__|prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None
ValueError|torch/utils/data/dataloader.py|__init__|sampler option is mutually exclusive with shuffle
RuntimeError|torch/utils/data/datapipes/dataframe/dataframe_wrapper.py|create_dataframe|DataFrames prototype requires pandas to function
ValueError|torch/utils/data/datapipes/iter/fileopener.py|__init__|Invalid mode foo
# vllm 0.32.0: 30 of 803
ValueError|vllm/config/compilation.py|validate_compile_cache_save_format|compile_cache_save_format must be 'binary' or 'unpacked', got: foo
ValueError|vllm/config/parallel.py|_verify_args|Unable to use nsight profiling unless workers run with Ray.
ValueError|vllm/config/speculative.py|_validate_qwen3_omni_dspark|Qwen3-Omni DSpark could not resolve the target thinker text_config.
ValueError|vllm/config/speculative.py|__post_init__|method='custom_class' requires 'model' to contain the custom proposer module path (e.g., 'my_module.MyProposer').
ValueError|vllm/config/vllm.py|validate_mamba_cached_kernel|FlashInfer ReplaySSM does not support --mamba-cache-mode align yet; use none
ValueError|vllm/config/vllm.py|__post_init__|HiSparse requires the hybrid KV cache manager; remove --disable-hybrid-kv-cache-manager or use connectors that support HMA.
ValueError|vllm/config/vllm.py|_validate_v2_model_runner|Model Runner V2 requires Triton.
ValueError|vllm/config/vllm.py|_verify_sampling_replay_config|sampling distribution replay requires Model Runner V2
AssertionError|vllm/distributed/device_communicators/all2all.py|__init__|MoRI kernels not found. Please follow https://github.com/ROCm/mori/blob/main/README.md to install MoRI kernels.
AssertionError|vllm/distributed/parallel_state.py|initialize_model_parallel|engram data parallel group is already initialized
ValueError|vllm/distributed/weight_transfer/m2n_common.py|check_placements|foo must have 8 entries
ValueError|vllm/engine/arg_utils.py|create_engine_config|Invalid data-parallel launch options: an external data-parallel rank requires `--data-parallel-size-local 1`; got 8. Set it to 1 or omit it.
ValueError|vllm/engine/arg_utils.py|create_engine_config|enable_flashinfer_autotune and kernel_config.enable_flashinfer_autotune are mutually exclusive
ValueError|vllm/entrypoints/launchers/cli_args.py|validate_grpc_port_arg|--grpc-port requires a Rust frontend; remove --headless and non-positive --api-server-count
VLLMValidationError|vllm/entrypoints/launchers/run_batch.py|download_bytes_from_url|Invalid data URL format: foo
ValueError|vllm/utils/argparse_utils.py|_pull_args_from_config|No config file specified! Please check your command-line arguments.
ValueError|vllm/utils/torch_utils.py|create_kv_caches_with_random|Does not support value cache of type torch.float32
RuntimeError|vllm/v1/attention/backends/b12x.py|_prepare|b12x foo must be float32.
AssertionError|vllm/v1/attention/backends/mla/prefill/flash_attn.py|__init__|FlashAttnPrefillBackend requires flash_attn_varlen_func. Ensure FlashAttnPrefillBackend.is_available() is checked first.
ValueError|vllm/v1/attention/backends/mla/sparse_indexer.py|__init__|foo requires DeepGEMM >= 2.8 (fp8_fp4_sparse_mqa_logits not found).
ValueError|vllm/v1/attention/backends/mla/sparse_indexer.py|__init__|foo requires an SM100-class GPU.
RuntimeError|vllm/v1/attention/ops/dcp.py|__init__|Direct DCP q-gather requires NVLS symmetric-memory multicast.
ValueError|vllm/v1/core/kv_cache_utils.py|_check_enough_kv_cache_memory|To serve at least one request with the model's max seq len (8), (foo GiB KV cache is needed, which is larger than the available KV cache memory (foo G
ValueError|vllm/v1/engine/core_client.py|prepare_elastic_ep|Cannot scale to data_parallel_size 8, minimum is 8
TimeoutError|vllm/v1/engine/core_client.py|__init__|Timed out waiting for engine core processes to start. This is often caused by slow weight loading for large models. Waited 8s (configured by VLLM_ENGI
AssertionError|vllm/v1/kv_cache_interface.py|merge|MLAAttentionSpec should be merged in MLAAttentionSpec.merge
ValueError|vllm/v1/pool/late_interaction_runner.py|postprocess_pooler_output|late-interaction query cache miss for key foo. Ensure query requests are executed before their paired document requests.
ValueError|vllm/v1/watermarking/detector.py|__init__|p_value_threshold must be between 0 and 1
ValueError|vllm/v1/worker/block_table.py|__init__|max_num_blocks length (8) must match block_sizes length (8)
ValueError|vllm/v1/worker/gpu/spec_decode/eagle/eagle3_utils.py|verify_supports_aux_hidden_states_over_pp|FooConfig does not support foo with pipeline parallelism
"""
